import { dayIn, fromStored, resolveZone } from './dates.ts'
import { titlesIn } from './fields/choices.ts'
import type { Field } from './fields/field.ts'
import { isNamedLink, shownType } from './fields/field.ts'
import type { CellValue } from './fields/field-type.ts'
import { fieldType } from './fields/index.ts'
import { linkOf } from './fields/link-options.ts'
import { readLinks } from './fields/list-value.ts'
import { idsIn } from './fields/people.ts'
import { holdsPeople } from './fields/traits.ts'

/**
 * The group of a cell's value, as in `records.groups`: an instant by its day in the field's zone, or in
 * `timeZone`; several options by which ones they are; a link by the name of its one record, or by its number.
 */
export function groupKeyOf(field: Field, value: CellValue, timeZone: string): CellValue {
  if (linkOf(field) !== null) {
    const { count, records } = readLinks(value)
    return isNamedLink(field) ? textOf(records[0]?.title ?? null) : count
  }
  const { type, options, isList } = shownType(field)
  if (isList) return value === '' ? null : value
  if (type.storage === 'boolean') return value === true
  if (value === null || value === '') return null
  if (type.storage !== 'datetime') return inSetOrder(field, value)
  const ms = fromStored(String(value))
  const zone =
    typeof options.timeZone === 'string' && options.timeZone !== 'local' ? options.timeZone : timeZone
  return ms === null ? null : dayIn(ms, resolveZone(zone))
}

/** A set of options in their order, of people in that of their ids; all other values as they are. */
export function inSetOrder(field: Field, value: CellValue): CellValue {
  const { type, options } = shownType(field)
  if (type.choices === 'multiple') {
    const titles = ((options.choices ?? []) as { title: string }[]).map((choice) => choice.title)
    const indexOf = (title: string) => titles.indexOf(title)
    const held = titlesIn(String(value))
    return held.some((title) => indexOf(title) < 0)
      ? value
      : held.sort((a, b) => indexOf(a) - indexOf(b)).join(',')
  }
  const isSet = holdsPeople({ type: type.name }) && options.multiple === true
  return isSet ? idsIn(value).sort().join(',') : value
}

/** True where people are offered to group by the field. */
export const isGroupable = (field: Field): boolean =>
  field.error === null &&
  fieldType(field.type).groupable !== false &&
  shownType(field).type.groupable !== false

const textOf = (value: CellValue): CellValue => (value === null || value === '' ? null : String(value))
