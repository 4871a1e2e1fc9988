import type { Field } from './field.ts'
import { shownType } from './field.ts'
import type { CellValue, FieldOptions } from './field-type.ts'
import type { FieldTypeName } from './index.ts'
import { formatValue } from './read.ts'

/** Type and format of the linked records' names. */
interface LinkedNames {
  type: FieldTypeName
  options: FieldOptions
}

/** A stored day or instant. */
const STORED_DATE = /^\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2}(?:\.\d+)?\+00:00)?$/

/** True if a name's display form may differ from its stored form: dates, numbers and booleans. */
export const needsFormat = (title: CellValue): boolean =>
  typeof title === 'number' ||
  typeof title === 'boolean' ||
  (typeof title === 'string' && STORED_DATE.test(title))

/** Storage kinds whose display form differs from the stored form. */
const FORMATTED: ReadonlySet<string> = new Set(['date', 'datetime', 'integer', 'real', 'boolean'])

/**
 * Type and format of the linked table's display field, for users without access to that table. Null if names
 * are displayed as stored.
 */
export function nameFormatOf(display: Field): LinkedNames | null {
  const { type, options, isList } = shownType(display)
  const name = display.result?.type ?? display.type
  return isList || display.error !== null || !FORMATTED.has(type.storage) ? null : { type: name, options }
}

/** Format of the linked records' names as stored in the field's options, see `nameFormatOf`; null if absent. */
export function namesOf({ options }: Pick<Field, 'options'>): LinkedNames | null {
  const { names } = options as { names?: LinkedNames }
  return names ?? null
}

/** Formats a linked record's name; null if it is displayed as stored. */
export function formatName(names: LinkedNames | null, title: CellValue): string | null {
  if (names === null || !needsFormat(title)) return null
  return formatValue(names, title) || null
}
