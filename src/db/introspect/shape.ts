import { MAX_PRECISION } from '../../core/fields/number.ts'
import type { ColumnShape, ColumnStructure, ShapeType } from './structure.ts'

/** Decimal digits that a JavaScript number always represents exactly. */
const EXACT_DIGITS = 15
/** Decimals shown for columns without a declared scale. */
const FLOAT_PRECISION = 4

/** A column that is edited as the field type. */
export const editable = (type: ShapeType, options: ColumnShape['options'] = {}): ColumnShape => ({
  type,
  options,
  readOnlyReason: null,
})

/** A read-only column, shown as text. */
export const shownOnly = (what: string): ColumnShape => ({
  type: 'SpecificDBType',
  options: {},
  readOnlyReason: `${what} can’t be edited here`,
})

/** A floating-point number. */
export const float = (): ColumnShape => editable('Decimal', { precision: FLOAT_PRECISION })

/**
 * A decimal number. With more than 15 digits or no limit, a cell is a number if JavaScript represents it exactly, else
 * its text, as for 64-bit integers.
 */
export function decimal({ sizes: [digits, scale = 0] }: ColumnStructure): ColumnShape {
  if (digits === undefined) return editable('Decimal', { precision: null })
  if (digits > EXACT_DIGITS && scale > MAX_PRECISION) return editable('Decimal', { precision: null })
  return scale <= 0 ? editable('Number') : editable('Decimal', { precision: Math.min(scale, MAX_PRECISION) })
}

/** Read-only reason of a computed column. */
export const GENERATED = 'This column is computed by the database'

/** The values of an enum as choices. */
export const choices = (values: string[] | null) => ({ choices: (values ?? []).map((title) => ({ title })) })

/** The shape, made read-only if the database computes the column. */
export function withFacts(shape: ColumnShape, column: ColumnStructure): ColumnShape {
  if (!column.isGenerated) return shape
  return { ...shape, readOnlyReason: GENERATED }
}

/** The numbers in a type's parentheses: `numeric(10,2)` gives `[10, 2]`, `text` an empty list. */
export function sizesOf(type: string): number[] {
  const [, inside = ''] = /\(([\d\s,]+)\)/.exec(type) ?? []
  return inside === '' ? [] : inside.split(',').map(Number)
}

/** The type without its sizes, in lower case: `timestamp(3) without time zone` gives `timestamp without time zone`. */
export function withoutSizes(type: string): string {
  const open = type.indexOf('(')
  const close = open < 0 ? -1 : type.indexOf(')', open)
  const bare = close < 0 ? type : type.slice(0, open).trimEnd() + type.slice(close + 1)
  return bare.toLowerCase().replace(/\s+/g, ' ').trim()
}

/**
 * The texts of a quoted list: `enum('a','it''s')` gives `a` and `it's`. Only quotes are escaped, by doubling:
 * `information_schema` of MySQL does not escape backslashes.
 */
export function quotedTexts(list: string): string[] {
  return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
}

/** The text of a quoted literal; null for any other expression. */
export function literalText(expression: string): string | null {
  const [, text] = /^'((?:[^']|'')*)'$/.exec(expression.trim()) ?? []
  return text === undefined ? null : text.replaceAll("''", "'")
}
