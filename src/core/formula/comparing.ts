import type { BinaryOperator, ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { isSame } from './functions/common.ts'
import type { Datum } from './functions/define.ts'
import { compareText } from './semantics.ts'
import type { Comparison } from './words.ts'

/** True for a sign of comparison. */
export const isComparison = (sign: BinaryOperator | string): sign is Comparison =>
  ['=', '!=', '<', '<=', '>', '>='].includes(sign)

/** Compares two values of one type. */
export function compareValues(sign: Comparison, left: Datum, right: Datum): boolean {
  if (sign === '=') return isSame(left, right)
  if (sign === '!=') return !isSame(left, right)
  if (left === null || right === null) return false
  const order = typeof left === 'string' ? compareText(left, String(right)) : Number(left) - Number(right)
  if (sign === '<') return order < 0
  if (sign === '<=') return order <= 0
  return sign === '>' ? order > 0 : order >= 0
}

/** The same as SQL. */
export function compileComparison<S>(sign: Comparison, left: Value<S>, right: Value<S>, build: Build<S>): S {
  const { words } = build
  if (sign === '=') return compileSame(left, right, build)
  if (sign === '!=') return words.not(compileSame(left, right, build))
  const isText = left.type === 'text'
  const compared = isText
    ? words.compareText(sign, left.sql, right.sql)
    : words.compare(sign, asNumber(left, build), asNumber(right, build))
  return words.coalesce(compared, words.truth(false))
}

/** True where two values of one type are equal or both empty, as SQL. */
export function compileSame<S>(left: Value<S>, right: Value<S>, build: Build<S>): S {
  const { words } = build
  if (left.type === 'null') return words.truth(true)
  if (left.type !== 'text') return words.same(asNumber(left, build), asNumber(right, build))
  const filled = ({ sql }: Value<S>) => words.coalesce(sql, words.text(''))
  return words.compareText('=', filled(left), filled(right))
}

const asNumber = <S>({ sql, type }: { sql: S; type: ValueType }, { words }: Build<S>): S =>
  type === 'boolean' ? words.truthNumber(sql) : sql
