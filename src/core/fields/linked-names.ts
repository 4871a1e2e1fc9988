import type { Field } from './field.ts'
import { shownType } from './field.ts'
import type { CellValue, FieldOptions } from './field-type.ts'
import type { FieldTypeName } from './index.ts'
import { formatValue } from './read.ts'

/** How the names of linked records are written: as values of this type. */
interface LinkedNames {
  type: FieldTypeName
  options: FieldOptions
}

/** A day or an instant as it is stored. */
const STORED_DATE = /^\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2}(?:\.\d+)?\+00:00)?$/

/** True for a name that its field shows in another form than it is stored: a date, a number, yes and no. */
export const wantsFormat = (title: CellValue): boolean =>
  typeof title === 'number' ||
  typeof title === 'boolean' ||
  (typeof title === 'string' && STORED_DATE.test(title))

/** Storage of names that are not shown as they are stored. */
const FORMATTED: ReadonlySet<string> = new Set(['date', 'datetime', 'integer', 'real', 'boolean'])

/**
 * The part of the linked table's display field that is shown to people without access to that table: its type and format, and only where names
 * are not shown as they are stored.
 */
export function namesToTell(display: Field): LinkedNames | null {
  const { type, options, isList } = shownType(display)
  const name = display.result?.type ?? display.type
  return isList || display.error !== null || !FORMATTED.has(type.storage) ? null : { type: name, options }
}

/** Type and format of the linked records' names, see `namesToTell`; null if they are hidden. */
export function namesOf({ options }: Pick<Field, 'options'>): LinkedNames | null {
  const { names } = options as { names?: LinkedNames }
  return names ?? null
}

/** A linked record's name as its field shows it; null where it is to be shown as it is. */
export function formatName(names: LinkedNames | null, title: CellValue): string | null {
  if (names === null || !wantsFormat(title)) return null
  return formatValue(names, title) || null
}
