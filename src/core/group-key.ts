import { dayIn, fromStored, resolveZone } from './dates.ts'
import type { Field } from './fields/field.ts'
import { isNamedLink, shownType } from './fields/field.ts'
import type { CellValue } from './fields/field-type.ts'
import { fieldType } from './fields/index.ts'
import { linkOf } from './fields/link-options.ts'
import { readLinks } from './fields/list-value.ts'
import { idsIn } from './fields/people.ts'
import { holdsPeople } from './fields/traits.ts'

/**
 * The group key of a cell's value, as in `records.groups`: instants by day in the field's zone or `timeZone`,
 * multi selects as sets, single links by name, other links by count.
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
  if (type.storage !== 'datetime') return normalizeSet(field, value)
  const ms = fromStored(String(value))
  const zone =
    typeof options.timeZone === 'string' && options.timeZone !== 'local' ? options.timeZone : timeZone
  return ms === null ? null : dayIn(ms, resolveZone(zone))
}

/**
 * True if a cell belongs to the group with the key. Several people are compared as a set: where one of them has left, or a base
 * has more people than are sorted, the key has the order of a cell.
 */
export function hasGroupKey(field: Field, value: CellValue, key: CellValue, timeZone: string): boolean {
  const own = groupKeyOf(field, value, timeZone)
  return own === key || (isPeopleSet(field) && key !== null && own === sortedIds(key))
}

/** Options of sets that are sorted, each a comparison per record. With more, cells are grouped as stored. */
export const MAX_SET_OPTIONS = 200

/**
 * A comma list in the order of the given titles: `red,blue` and `blue,red` are one set. A list with other titles stays
 * as it is, or it would look like another.
 */
export function sortSet(list: string, titles: readonly string[]): string {
  if (titles.length > MAX_SET_OPTIONS) return list
  const sorted = titles.filter((title) => `,${list},`.includes(`,${title},`)).join(',')
  return sorted.length === list.length ? sorted : list
}

/** Normalizes the order of a set: options in their defined order, people by id. Returns other values unchanged. */
function normalizeSet(field: Field, value: CellValue): CellValue {
  const { type, options } = shownType(field)
  if (type.choices === 'multiple') {
    const choices = (options.choices ?? []) as { title: string }[]
    return sortSet(
      String(value),
      choices.map(({ title }) => title),
    )
  }
  return isPeopleSet(field) ? sortedIds(value) : value
}

function isPeopleSet(field: Field): boolean {
  const { type, options } = shownType(field)
  return holdsPeople({ type: type.name }) && options.multiple === true
}

const sortedIds = (value: CellValue): string => idsIn(value).sort().join(',')

/** True if users can group by the field. */
export const isGroupable = (field: Field): boolean =>
  field.error === null &&
  fieldType(field.type).groupable !== false &&
  shownType(field).type.groupable !== false

const textOf = (value: CellValue): CellValue => (value === null || value === '' ? null : String(value))
