import type { CellValue } from '../fields/field-type.ts'

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
  'pastWeek',
  'pastMonth',
  'pastYear',
  'nextWeek',
  'nextMonth',
  'nextYear',
  'pastNumberOfDays',
  'nextNumberOfDays',
] as const

export type DateOperand = (typeof DATE_OPERANDS)[number]

/** One comparison: `[field] [operator] [value]`. */
export interface Condition {
  /** Its id for REST clients, kept where a view stores the filter. */
  id?: string
  fieldId: string
  /** Key of an operator in the registry: `eq`, `like`, `isWithin`, … */
  operator: string
  /** For dates: what the value is relative to. */
  operand?: DateOperand | null
  /** One value, or several for `in`, `anyof`, `btw`, …; null where the operator takes none. */
  value: CellValue | CellValue[]
}

/** Conditions joined by one word. Groups nest five levels at most (`MAX_DEPTH`). */
export interface FilterGroup {
  /** Its id for REST clients; none where it only says that "and" binds tighter, or that a child is negated. */
  id?: string
  join: 'and' | 'or'
  /** True where the whole group is negated. */
  not?: boolean
  children: Filter[]
}

export type Filter = Condition | FilterGroup

/** Deepest nesting of groups that is accepted from outside. */
export const MAX_DEPTH = 5

export const isGroup = (filter: Filter): filter is FilterGroup => 'children' in filter

/** Combines filters with "and": a single one is returned as it is, an empty list gives null. */
export function allOf(filters: (Filter | null | undefined)[]): Filter | null {
  const present = filters.filter((filter) => filter != null)
  if (present.length < 2) return present[0] ?? null
  return { join: 'and', children: present }
}

/** Every field id that a filter names, for dependency checks. */
export function fieldsOf(filter: Filter | null): string[] {
  if (filter === null) return []
  return isGroup(filter) ? filter.children.flatMap(fieldsOf) : [filter.fieldId]
}
