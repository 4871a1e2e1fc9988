import type { Build, Value } from './build.ts'

/** What remains after dividing, with the sign of the first; null for a divisor of 0. */
export function remainder(value: number, divisor: number): number | null {
  return divisor === 0 ? null : value - divisor * Math.trunc(value / divisor)
}

/** The same as SQL. */
export function compileRemainder<S>(value: Value<S>, divisor: Value<S>, build: Build<S>): S {
  const { words, constant } = build
  return build.once([value, divisor], (number, by) =>
    build.bind(words.divide(number, by), 'number', (quotient) => {
      const whole = words.choose(
        [[words.compare('<', quotient, constant(0)), words.ceil(quotient)]],
        words.floor(quotient),
      )
      return words.arithmetic('-', number, words.arithmetic('*', by, whole))
    }),
  )
}
