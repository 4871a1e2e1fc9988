import type { Build, Value } from './build.ts'

/** The sum of numbers, nulls passed over, added one behind the other as in JavaScript. */
export function compileSum<S>(values: Value<S>[], { words, constant }: Build<S>): S {
  return values
    .map(({ sql }) => words.coalesce(sql, constant(0)))
    .reduce((left, right) => words.arithmetic('+', left, right), constant(0))
}
