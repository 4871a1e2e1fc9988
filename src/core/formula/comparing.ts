import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import type { Datum } from './functions/define.ts'
import { isSame } from './functions/define.ts'
import { compileReadNumber, readNumber } from './numbers.ts'
import { compareText } from './semantics.ts'
import type { Comparison } from './words.ts'

/** True where text is compared with a number: the text is then read as one. */
const isMixed = (left: ValueType | undefined, right: ValueType | undefined): boolean =>
  (left === 'text' && right === 'number') || (left === 'number' && right === 'text')

/** True where two values are equal, or both empty. */
export function areSame(left: Datum, right: Datum, types: readonly (ValueType | undefined)[]): boolean {
  if (!isMixed(types[0], types[1])) return isSame(left, right)
  const [text, number] = types[0] === 'text' ? [left, right] : [right, left]
  if (text === null || text === '') return number === null
  const read = readNumber(String(text))
  return read !== null && read === number
}

/** Compares two values of one type, or text with a number. */
export function compareValues(sign: Comparison, left: Datum, right: Datum, types: ValueType[]): boolean {
  if (sign === '=') return areSame(left, right, types)
  if (sign === '!=') return !areSame(left, right, types)
  if (isMixed(types[0], types[1])) {
    const read = (value: Datum) => (typeof value === 'string' ? readNumber(value) : value)
    return compareValues(sign, read(left), read(right), ['number', 'number'])
  }
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
  if (isMixed(left.type, right.type)) {
    return build.once([left, right], (...both) => {
      const read = [left, right].map((value, index) => asRead({ ...value, sql: both[index]! }, build))
      return words.coalesce(words.compare(sign, read[0]!, read[1]!), words.truth(false))
    })
  }
  const isText = left.type === 'text'
  const compared = isText
    ? words.compareText(sign, left.sql, right.sql)
    : words.compare(sign, asNumber(left, build), asNumber(right, build))
  return words.coalesce(compared, words.truth(false))
}

/** True where two values are equal or both empty, as SQL. */
export function compileSame<S>(left: Value<S>, right: Value<S>, build: Build<S>): S {
  const { words } = build
  if (isMixed(left.type, right.type)) return compileMixed(left, right, build)
  if (left.type === 'null') return words.truth(true)
  if (left.type !== 'text') return words.same(asNumber(left, build), asNumber(right, build))
  const filled = ({ sql }: Value<S>) => words.coalesce(sql, words.text(''))
  return words.compareText('=', filled(left), filled(right))
}

/** A number, or the number that a text reads as. */
const asRead = <S>(value: Value<S>, build: Build<S>): S =>
  value.type === 'text' ? compileReadNumber(value, build) : value.sql

/** Equality of text and a number: an empty text is an empty number, and one that is no number equals none. */
function compileMixed<S>(left: Value<S>, right: Value<S>, build: Build<S>): S {
  const { words } = build
  const [text, number] = left.type === 'text' ? [left, right] : [right, left]
  return build.once([text, number], (...both) => {
    const [written, expected] = both as [S, S]
    const read = compileReadNumber({ ...text, sql: written, isSimple: true }, build)
    return words.choose(
      [
        [
          words.compareText('=', words.coalesce(written, words.text('')), words.text('')),
          words.isNull(expected),
        ],
      ],
      words.coalesce(words.compare('=', read, expected), words.truth(false)),
    )
  })
}

const asNumber = <S>({ sql, type }: { sql: S; type: ValueType }, { words }: Build<S>): S =>
  type === 'boolean' ? words.truthNumber(sql) : sql
