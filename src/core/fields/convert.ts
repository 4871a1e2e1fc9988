import { dayIn, fromStored } from '../dates.ts'
import type { CellValue, FieldOptions } from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { parseNumber } from './number-text.ts'

/** A value in its new type. */
export interface Conversion {
  /** Null where nothing of the value fits. */
  value: CellValue
  /** True where something is gone: the whole value, or the time of a moment that became a day. */
  lost: boolean
}

/**
 * Turns a value of one type into another. What would be cut or rounded (1.9 as a whole number, 7 as one
 * of five stars, two tags as one option) becomes null and counts as lost; only a moment's time of day
 * may go, as turning a date and time into a date asks for that.
 *
 * Selects take what they have an option for: add the options first (`withChoices`) to keep all.
 */
export function convert(
  value: CellValue,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): Conversion {
  if (value === null) return { value: null, lost: false }
  if (fieldType(toType).readOnly) return { value: null, lost: true }
  const converted = special(value, fromType, fromOptions, toType, toOptions)
  // An empty text says as little as no value does.
  return { value: converted.value, lost: converted.lost || (converted.value === null && value !== '') }
}

/** The value of `convert` alone. */
export const convertValue = (...args: Parameters<typeof convert>): CellValue => convert(...args).value

const NUMERIC: readonly FieldTypeName[] = [
  'ID',
  'Number',
  'Decimal',
  'Currency',
  'Percent',
  'Rating',
  'Order',
]
const INSTANTS: readonly FieldTypeName[] = ['DateTime', 'CreatedTime', 'LastModifiedTime']

function special(
  value: Exclude<CellValue, null>,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): Conversion {
  const kept = (converted: CellValue): Conversion => ({ value: converted, lost: false })
  const toNumeric = NUMERIC.includes(toType)
  if (fromType === 'Checkbox' && toNumeric) return kept(value === true || value === 1 ? 1 : 0)
  if (NUMERIC.includes(fromType) && toType === 'Checkbox') return kept(oneOrNone(value))
  if (toNumeric) return kept(asNumber(value, fromType, fromOptions, toType, toOptions))
  if (INSTANTS.includes(fromType) && toType === 'DateTime') return kept(value)
  if (INSTANTS.includes(fromType) && toType === 'Date') return asDay(String(value), fromOptions)
  if (fromType === 'Date' && toType === 'DateTime') return kept(`${value} 00:00:00+00:00`)
  const text = fieldType(fromType).format(value, fromOptions)
  const converted = fieldType(toType).parse(text, toOptions)
  return kept(converted)
}

/** Only 1 and 0 say the same as a checkmark; 5 would come back as 1. */
function oneOrNone(value: CellValue): boolean | null {
  return value === 1 ? true : value === 0 ? false : null
}

/** The number that the value or its text is, where the new type takes exactly that: `parse` would clamp a rating. */
function asNumber(
  value: Exclude<CellValue, null>,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): CellValue {
  const text = fieldType(fromType).format(value, fromOptions)
  // Currency knows its own code, "EUR 12"; all others share one way of reading.
  const number = toType === 'Currency' ? fieldType(toType).parse(text, toOptions) : parseNumber(text)
  if (number === null) return null
  const read = fieldType(toType).read(number, toOptions)
  return read.ok ? read.value : null
}

/** The day on which it was, where the field says where; else in UTC, as days become moments. */
function asDay(instant: string, { timeZone }: FieldOptions): Conversion {
  const ms = fromStored(instant)
  if (ms === null) return { value: null, lost: true }
  const zone = typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : 'UTC'
  const day = dayIn(ms, zone)
  return { value: day, lost: instant !== `${day} 00:00:00+00:00` }
}
