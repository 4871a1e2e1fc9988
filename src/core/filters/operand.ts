import { addDays, fromStored, isDay, resolveZone, startOfDay, toStored } from '../dates.ts'
import { readExactNumber } from '../exact-decimal.ts'
import { readCheckboxWord } from '../fields/checkbox.ts'
import { readDay } from '../fields/date-text.ts'
import type { FieldResult } from '../fields/field.ts'
import { filterSetOf, shownType } from '../fields/field.ts'
import type { CellValue, FieldOptions, FilterSet } from '../fields/field-type.ts'
import type { FieldTypeName } from '../fields/index.ts'
import { parseDayOnly } from '../fields/instant-text.ts'
import { readNumberText } from '../fields/number-text.ts'
import type { Person } from '../fields/people.ts'
import { parseTime } from '../fields/time.ts'
import type { Condition, DateOperand } from './filter.ts'
import { type Arity, arityFor, type FilterOperator, type Operand } from './operators/operator.ts'
import { isStateName } from './operators/presence.ts'
import type { FilterValue } from './primitives.ts'
import { isWithinOperand, MAX_DAYS, operandNeeds, resolveDays } from './relative-dates.ts'

/** The properties of a field that filters use. */
export interface FilterField {
  id: string
  title: string
  type: FieldTypeName
  options: FieldOptions
  result?: FieldResult | null
}

/** The time and user for which a filter is evaluated. */
export interface FilterMoment {
  now: Date
  /** IANA zone of "today" for fields in local time; default UTC. */
  timeZone?: string
  /** User id for `@me`. */
  actorId?: string | null
  /** People searched by "contains" on people fields; without them it matches no record. */
  people?: readonly Person[]
}

/** Maximum values of a list operator. */
export const MAX_LIST = 1000

export const setOf = (field: FilterField): FilterSet => filterSetOf(field)

/** The condition’s values. For operators with several, text is split at commas and empty values are dropped. */
function valuesOf(condition: Condition, arity: Arity): CellValue[] {
  const { value } = condition
  const listed = arity === 'many' || arity === 'two'
  const list = Array.isArray(value) ? value : listed && typeof value === 'string' ? value.split(',') : [value]
  return listed ? list.filter((item) => item !== null && item !== '') : list
}

/** The date operand; `exactDate` by default. */
const operandOf = (condition: Condition): DateOperand => condition.operand ?? 'exactDate'

/**
 * False if the condition lacks a value that its operator needs; such a condition has no effect (ui §7). Empty text
 * counts as a value only for "is equal to" on text.
 */
export function hasRequiredValues(operator: FilterOperator, condition: Condition, set: FilterSet): boolean {
  const arity = arityFor(operator, set)
  const values = valuesOf(condition, arity)
  if (arity === 'none') return true
  if (arity === 'many') return values.length > 0
  if (arity === 'two') return values.length === 2
  const [value = null] = values
  if (arity === 'date') {
    const isNeeded = operandNeeds(operandOf(condition)) !== 'nothing'
    return !isNeeded || (value !== null && value !== '')
  }
  const isMeaning = operator.takesEmptyText === true && set === 'text'
  return value !== null && (value !== '' || isMeaning)
}

/** The first value that the field cannot be compared with; undefined if all fit. */
export function findInvalidValue(
  operator: FilterOperator,
  condition: Condition,
  field: FilterField,
): CellValue | undefined {
  const set = setOf(field)
  const arity = arityFor(operator, set)
  if (arity === 'none' || !hasRequiredValues(operator, condition, set)) return undefined
  const values = valuesOf(condition, arity)
  if (values.length > MAX_LIST) return `of ${values.length} items`
  if (arity === 'date') return unfitDate(operator, condition, values)
  if (values.length > 1 && (arity === 'one' || arity === 'word')) return values.join(',')
  const fits = (value: CellValue) => {
    if (arity === 'word') return isStateName(String(value), set)
    if (set === 'date' && arity === 'two') return isStoredDate(String(value), field)
    return operator.comparesText === true || readValue(value, set) !== null
  }
  return values.find((value) => !fits(value))
}

/** True for the stored form of a day, or of an instant for a field with a time. */
const isStoredDate = (text: string, field: FilterField): boolean =>
  shownType(field).type.storage === 'date' ? isDay(text) : fromStored(text) !== null

function unfitDate(
  operator: FilterOperator,
  condition: Condition,
  values: CellValue[],
): CellValue | undefined {
  const operand = operandOf(condition)
  if (isWithinOperand(operand) !== (operator.key === 'isWithin')) return operand
  const [value = null] = values
  return readDateValue(operand, value) === null && operandNeeds(operand) !== 'nothing' ? value : undefined
}

/** Reads the operand of a complete condition that has passed `checkCondition`. */
export function readOperand(
  operator: FilterOperator,
  condition: Condition,
  field: FilterField,
  moment: FilterMoment,
): Operand {
  const set = setOf(field)
  const arity = arityFor(operator, set)
  const values = valuesOf(condition, arity)
  if (arity === 'date') return { values: [], range: rangeOf(condition, field, moment), people: null }
  if (arity === 'word' || operator.comparesText) {
    const people = set === 'user' ? searchPeople(String(values[0] ?? ''), moment) : null
    return { values, range: null, people }
  }
  const read = values.map((value) => readValue(set === 'user' ? asPerson(value, moment) : value, set))
  return { values: read.filter((value) => value !== null), range: null, people: null }
}

/** Converts a value for the filter set, or null; API clients also send numbers and booleans as text. */
function readValue(value: CellValue, set: FilterSet): FilterValue {
  if (value === null) return null
  if (set === 'time') return parseTime(String(value), { keepsFraction: true })
  if (set === 'number' || set === 'links')
    return typeof value === 'number'
      ? value
      : (readExactNumber(String(value)) ?? readNumberText(String(value)))
  if (set === 'checkbox') return typeof value === 'boolean' ? value : readCheckboxWord(String(value))
  return String(value)
}

const asPerson = (value: CellValue, moment: FilterMoment): CellValue =>
  value === '@me' ? (moment.actorId ?? '') : value

/** Ids of the people whose e-mail or name contains the text, ignoring case. */
export function searchPeople(text: string, { people = [] }: FilterMoment): string[] {
  const pattern = text.replaceAll('%', '').toLowerCase()
  const isFound = (person: Person) =>
    person.email.toLowerCase().includes(pattern) || person.displayName?.toLowerCase().includes(pattern)
  return people.filter(isFound).map((person) => person.id)
}

/** The day of `exactDate` or the number of days; null if invalid. */
function readDateValue(operand: DateOperand, value: CellValue): string | number | null {
  if (operandNeeds(operand) === 'date') {
    const day =
      typeof value === 'string' ? (parseDayOnly(value, readDay) ?? readDay(value.slice(0, 10))) : null
    return day
  }
  const days = readValue(value, 'number')
  return typeof days === 'number' && Number.isInteger(days) && days >= 0 && days <= MAX_DAYS ? days : null
}

/** The last instant of a calendar whose days end with 9999-12-31. */
const LAST_INSTANT = '9999-12-31 23:59:59.999999+00:00'

function rangeOf(condition: Condition, field: FilterField, moment: FilterMoment): Operand['range'] {
  const { options, type } = shownType(field)
  const own = typeof options.timeZone === 'string' ? options.timeZone : 'local'
  const zone = own === 'local' ? resolveZone(moment.timeZone ?? 'UTC') : own
  const operand = operandOf(condition)
  const [value = null] = valuesOf(condition, 'date')
  // Exact dates must not read the current time, so that compiled filters can be cached.
  const now = operandNeeds(operand) === 'date' ? new Date(0) : moment.now
  const { from, last } = resolveDays(operand, readDateValue(operand, value), now, zone)
  const to = addDays(last, 1)
  // No day follows the last one.
  const end = to === last ? '<=' : '<'
  if (type.storage === 'date') return { from, to, end }
  const instant = (day: string) => toStored(startOfDay(day, zone)) ?? `${day} 00:00:00+00:00`
  return { from: instant(from), to: end === '<' ? instant(to) : LAST_INSTANT, end }
}
