import { MAX_PRECISION } from '../../core/fields/number.ts'
import type { ColumnShape, ColumnStructure, ShapeType } from './structure.ts'

/** Digits that a number of JavaScript, and of JSON, keeps exactly whatever they are. */
const EXACT_DIGITS = 15
/** Decimals shown for columns that do not say how many they have. */
const FLOAT_PRECISION = 4

/** A column that people edit as the type says. */
export const editable = (type: ShapeType, options: ColumnShape['options'] = {}): ColumnShape => ({
  type,
  options,
  readOnlyReason: null,
})

/** A column that is shown as text and left alone. */
export const shownOnly = (what: string): ColumnShape => ({
  type: 'SpecificDBType',
  options: {},
  readOnlyReason: `${what} can’t be edited here`,
})

/** A floating-point number. */
export const float = (): ColumnShape => editable('Decimal', { precision: FLOAT_PRECISION })

/**
 * A decimal number. With more than 15 digits, or with no limit, its cells are numbers where JavaScript keeps every digit, and
 * else their text, digit for digit, as whole numbers of eight bytes are.
 */
export function decimal({ sizes: [digits, scale = 0] }: ColumnStructure): ColumnShape {
  if (digits === undefined) return editable('Decimal', { precision: null })
  if (digits > EXACT_DIGITS && scale > MAX_PRECISION) return editable('Decimal', { precision: null })
  return scale <= 0 ? editable('Number') : editable('Decimal', { precision: Math.min(scale, MAX_PRECISION) })
}

/** Why a computed column is not written. */
export const GENERATED = 'This column is computed by the database'

/** The values of an enum as choices. */
export const choices = (values: string[] | null) => ({ choices: (values ?? []).map((title) => ({ title })) })

/**
 * The shape as the column's own facts allow: what the database computes itself is never written.
 */
export function withFacts(shape: ColumnShape, column: ColumnStructure): ColumnShape {
  if (!column.isGenerated) return shape
  return { ...shape, readOnlyReason: GENERATED }
}

/** The numbers in a type's parentheses: `numeric(10,2)` gives `[10, 2]`; none give an empty list. */
export function sizesOf(type: string): number[] {
  const [, inside = ''] = /\(([\d\s,]+)\)/.exec(type) ?? []
  return inside === '' ? [] : inside.split(',').map(Number)
}

/** The type without its sizes, in lower case: `timestamp(3) without time zone` is `timestamp without time zone`. */
export function withoutSizes(type: string): string {
  const open = type.indexOf('(')
  const close = open < 0 ? -1 : type.indexOf(')', open)
  const bare = close < 0 ? type : type.slice(0, open).trimEnd() + type.slice(close + 1)
  return bare.toLowerCase().replace(/\s+/g, ' ').trim()
}

/**
 * The texts of a quoted list: `enum('a','it''s')` gives `a` and `it's`. Doubled quotes mean one; so does, in
 * MySQL, nothing else: `information_schema` writes backslashes as they are.
 */
export function quotedTexts(list: string): string[] {
  return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
}

/** A literal in quotes as its text; null for anything that is not one alone. */
export function literalText(expression: string): string | null {
  const [, text] = /^'((?:[^']|'')*)'$/.exec(expression.trim()) ?? []
  return text === undefined ? null : text.replaceAll("''", "'")
}
