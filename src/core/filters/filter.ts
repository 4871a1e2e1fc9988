import type { CellValue } from '../fields/field-type.ts'

/** Operands of `isWithin`; all others name a single day. */
export const WITHIN_OPERANDS = [
  'pastWeek',
  'pastMonth',
  'pastYear',
  'nextWeek',
  'nextMonth',
  'nextYear',
  'pastNumberOfDays',
  'nextNumberOfDays',
] as const

/** Operands of date comparisons; `exactDate` takes a date, the `number` ones a number of days. */
export const DATE_OPERANDS = [
  'today',
  'tomorrow',
  'yesterday',
  'oneWeekAgo',
  'oneWeekFromNow',
  'oneMonthAgo',
  'oneMonthFromNow',
  'daysAgo',
  'daysFromNow',
  'exactDate',
  ...WITHIN_OPERANDS,
] as const

export type DateOperand = (typeof DATE_OPERANDS)[number]

/** One comparison: `[field] [operator] [value]`. */
export interface Condition {
  /** Id for REST clients, stored with the view's filter. */
  id?: string
  fieldId: string
  /** Key of an operator in the registry: `eq`, `like`, `isWithin`, … */
  operator: string
  /** For dates: what the value is relative to. */
  operand?: DateOperand | null
  /** One value, or several for `in`, `anyof`, `btw`, …; null for operators without a value. */
  value: CellValue | CellValue[]
}

/** Conditions joined by "and" or "or". Groups nest at most five levels (`MAX_DEPTH`). */
export interface FilterGroup {
  /** Id for REST clients; absent for groups that only express precedence or negation. */
  id?: string
  join: 'and' | 'or'
  /** Negates the whole group. */
  not?: boolean
  children: Filter[]
}

export type Filter = Condition | FilterGroup

/** Maximum nesting of groups in a client's filter. */
export const MAX_DEPTH = 5

export const isGroup = (filter: Filter): filter is FilterGroup => 'children' in filter

/** Combines filters with "and": a single one is returned as it is, an empty list gives null. */
export function allOf(filters: (Filter | null | undefined)[]): Filter | null {
  const present = filters.filter((filter) => filter != null)
  if (present.length < 2) return present[0] ?? null
  return { join: 'and', children: present }
}

/** Ids of all fields in a filter, with duplicates. */
export function fieldsOf(filter: Filter | null): string[] {
  if (filter === null) return []
  return isGroup(filter) ? filter.children.flatMap(fieldsOf) : [filter.fieldId]
}
