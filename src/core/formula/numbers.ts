import { trimCharacters } from '../trim-characters.ts'
import type { Build, Value } from './build.ts'
import { powerOfTen, whole } from './semantics.ts'

/** Where to: halves away from zero, towards zero, or away from it. */
export type Rounding = 'half' | 'down' | 'up'

/** Digits that are looked at, before and behind the point. */
const MAX_DIGITS = 15
/** Up to here a double has digits to spare, of which the last are the noise of computing. */
const NOISY = 1e14
const WHOLE_FROM = 2 ** 52
/** 1 ± 2 ** -50: lifts 1.005 * 100 = 100.49999999999999 over the half that was meant. */
const MORE = 1.0000000000000009
const LESS = 0.9999999999999991

/** A number rounded to `digits` decimals; if negative, to tens, hundreds and so on. */
export function roundTo(value: number, digits: number, rounding: Rounding): number {
  const places = whole(digits, -MAX_DIGITS, MAX_DIGITS)
  const power = powerOfTen(Math.abs(places))
  const magnitude = Math.abs(value)
  const scaled = places < 0 ? magnitude / power : magnitude * power
  if (scaled >= WHOLE_FROM) return value
  const rounded = rounders[rounding](scaled)
  const result = places < 0 ? rounded * power : rounded / power
  return value < 0 ? -result : result
}

const rounders: Record<Rounding, (scaled: number) => number> = {
  half: (scaled) => Math.floor((scaled < NOISY ? scaled * MORE : scaled) + 0.5),
  down: (scaled) => Math.floor(scaled < NOISY ? scaled * MORE : scaled),
  up: (scaled) => Math.ceil(scaled < NOISY ? scaled * LESS : scaled),
}

/** The same as SQL. Without digits it rounds to whole numbers. */
export function compileRound<S>(args: Value<S>[], build: Build<S>, rounding: Rounding): S {
  const { words, constant } = build
  const [value, digits] = args
  if (!value) return words.nothing('number')
  if (!digits) return roundWith([value], build, rounding, 0)
  if (typeof digits.constant === 'number') {
    return roundWith([value], build, rounding, whole(digits.constant, -MAX_DIGITS, MAX_DIGITS))
  }
  return build.once([value, digits], (number, places) =>
    build.bind(
      compileWhole(words.coalesce(places, constant(0)), build, -MAX_DIGITS, MAX_DIGITS),
      'number',
      (to) =>
        words.choose(
          [[words.isNull(places), words.nothing('number')]],
          roundWith([{ ...value, sql: number, isSimple: true }], build, rounding, to),
        ),
    ),
  )
}

function roundWith<S>([value]: [Value<S>], build: Build<S>, rounding: Rounding, places: number | S): S {
  const { words, constant } = build
  const isConstant = typeof places === 'number'
  const power = isConstant ? constant(powerOfTen(Math.abs(places))) : words.powerOfTen(words.abs(places))
  return build.once([value], (number) => {
    const magnitude = words.abs(number)
    const multiplied = words.arithmetic('*', magnitude, power)
    const divided = words.divide(magnitude, power)
    const scaled = isConstant
      ? places === 0
        ? magnitude
        : places < 0
          ? divided
          : multiplied
      : words.choose([[words.compare('<', places, constant(0)), divided]], multiplied)
    return build.bind(scaled, 'number', (shown) => {
      const rounded = roundScaled(shown, build, rounding)
      const up = words.arithmetic('*', rounded, power)
      const down = words.divide(rounded, power)
      const result = isConstant
        ? places === 0
          ? rounded
          : places < 0
            ? up
            : down
        : words.choose([[words.compare('<', places, constant(0)), up]], down)
      const sign = words.choose([[words.compare('<', number, constant(0)), constant(-1)]], constant(1))
      return words.choose(
        [[words.compare('>=', shown, constant(WHOLE_FROM)), number]],
        words.arithmetic('*', result, sign),
      )
    })
  })
}

function roundScaled<S>(scaled: S, { words, constant }: Build<S>, rounding: Rounding): S {
  const nudge = constant(rounding === 'up' ? LESS : MORE)
  const factor = words.choose([[words.compare('<', scaled, constant(NOISY)), nudge]], constant(1))
  const nudged = words.arithmetic('*', scaled, factor)
  if (rounding === 'up') return words.ceil(nudged)
  return words.floor(rounding === 'half' ? words.arithmetic('+', nudged, constant(0.5)) : nudged)
}

/** A whole number between the two, fractions dropped, as SQL. */
function compileWhole<S>(value: S, build: Build<S>, low: number, high: number): S {
  const { words, constant } = build
  return build.bind(value, 'number', (number) =>
    words.choose(
      [
        [words.compare('>=', number, constant(high)), constant(high)],
        [words.compare('<=', number, constant(low)), constant(low)],
        [words.compare('<', number, constant(0)), words.ceil(number)],
      ],
      words.floor(number),
    ),
  )
}

/** The argument as a whole number between the two. */
export function wholeArg<S>(value: Value<S>, build: Build<S>, low: number, high: number): Value<S> {
  if (typeof value.constant === 'number') {
    const constant = whole(value.constant, low, high)
    return { ...value, sql: build.constant(constant), constant, isSimple: true }
  }
  return { ...value, sql: compileWhole(value.sql, build, low, high), isSimple: false }
}

/** Remainder of a division, with the sign of the dividend; null for a divisor of 0. */
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

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?$/

/** Longest text that is read as a number. */
const MAX_NUMBER_TEXT = 40

/** The number that a text reads as, such as ` -1.5e3 `; null where it is none. */
export function readNumber(written: string): number | null {
  const text = trimCharacters(written, ' ')
  return text.length <= MAX_NUMBER_TEXT && NUMBER.test(text) ? Number(text) : null
}

/** The same as SQL. */
export function compileReadNumber<S>(text: Value<S>, build: Build<S>): S {
  const { words } = build
  return build.bind(words.trim(text.sql), 'text', (trimmed) =>
    words.choose(
      [
        [
          words.compare('<=', words.length(trimmed), build.constant(MAX_NUMBER_TEXT)),
          words.readNumber(trimmed),
        ],
      ],
      words.nothing('number'),
    ),
  )
}
