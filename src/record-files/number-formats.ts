import { dayFormatOf, shownType } from '../core/fields/field.ts'
import type { FieldOptions } from '../core/fields/field-type.ts'
import type { FieldTypeName } from '../core/fields/index.ts'
import type { Field } from '../core/model.ts'

/** How the numbers of a field look in a workbook: a format code (ECMA-376, 18.8.31). */
type FormatCode = (options: FieldOptions) => string | null

/** Format codes by field type; other numbers are shown as they are. */
const NUMBER_FORMATS: Partial<Record<FieldTypeName, FormatCode>> = {
  Number: ({ thousands }) => (thousands === true ? '#,##0' : null),
  Decimal: ({ precision, thousands }) => {
    const digits =
      typeof precision === 'number' ? decimals(precision) : thousands === true ? '.########' : null
    return digits === null ? null : `${thousands === true ? '#,##0' : '0'}${digits}`
  },
  Currency: ({ code, precision }) => `[$${symbolOf(String(code))}]#,##0${decimals(Number(precision ?? 2))}`,
  Percent: ({ precision }) => `0${decimals(Number(precision ?? 2))}%`,
}

const decimals = (count: number): string => (count > 0 ? `.${'0'.repeat(count)}` : '')

/** `€` for EUR; the code where there is no symbol. */
function symbolOf(code: string): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency: code }).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value ?? code
}

/** The format code of a field's cells; null where a spreadsheet's general format does. */
export function formatCodeOf(field: Field): string | null {
  const { type, options, isList } = shownType(field)
  if (isList) return null
  if (type.storage === 'date') return dayCode(field)
  if (type.storage === 'datetime') return `${dayCode(field)}\\ hh:mm:ss`
  return NUMBER_FORMATS[type.name as FieldTypeName]?.(options) ?? null
}

/** `dd\/mm\/yyyy`: separators are escaped, because `/` would become that of the reader's language. */
const dayCode = (field: Field): string =>
  dayFormatOf(field)
    .toLowerCase()
    .replace(/[^a-z]/g, (separator) => `\\${separator}`)
