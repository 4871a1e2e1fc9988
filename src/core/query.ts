import type { CellValue } from './fields/field-type.ts'
import type { Filter } from './filters/filter.ts'
import type { RecordId, Sort } from './model.ts'

/** Search text, for one field or (null) all searchable fields. */
export interface Search {
  text: string
  fieldId: string | null
  /** Limits a search of all fields to these. Clients cannot name them. */
  fieldIds?: string[]
}

/** A group of records by field value, as returned by `records.groups`; null: records without a value. */
export interface GroupKey {
  fieldId: string
  value: CellValue
}

/** A read of one table. All reads of records are described this way, and only the planner turns them into SQL. */
export interface Query {
  tableId: string
  /** Applies the view's filter in addition, and its order if `sorts` is absent. */
  viewId?: string
  /** Field ids in order; absent: all except system fields. */
  fieldIds?: string[]
  filter?: Filter | null
  /**
   * Sorts by group first, outermost level first, in the order of `records.groups`. Absent: not grouped, even
   * if the view is.
   */
  groups?: Sort[]
  sorts?: Sort[]
  /**
   * A view whose manual order applies if there are no sorts or groups. The page then has a last column with
   * each record's position, under `positionKey`.
   */
  orderViewId?: string
  search?: Search | null
  /** Only records of this group; outermost level first. */
  group?: GroupKey[]
  /** IANA zone of the user, for "today"; absent: UTC. */
  timeZone?: string
  /** Only these records, in addition to all other conditions. */
  recordIds?: RecordId[]
  limit: number
  offset: number
}

/** The part of a query that selects records, for counts, summaries and writes to all matches. */
export type Selection = Pick<
  Query,
  'tableId' | 'viewId' | 'filter' | 'search' | 'group' | 'timeZone' | 'recordIds'
>

/** Input of `records.groups`. */
export interface GroupRequest {
  selection: Selection
  /** Outermost level first; 1 to `MAX_GROUPS`. */
  groups: Sort[]
  /** Summaries computed for each group. */
  summaries: { fieldId: string; summary: string }[]
  /** In groups of the first level. */
  limit: number
  offset: number
}

/** Records with the same group values. */
export interface RecordGroup {
  /** Value of each level down to its own, as `Selection.group` expects them; null: no value. */
  keys: CellValue[]
  count: number
  summaries: Record<string, CellValue>
}

/** Groups in list order, each before its subgroups. */
export interface GroupPage {
  groups: RecordGroup[]
  /** True if the first level has more groups. */
  hasMore: boolean
}

/**
 * Maximum groups per level below the first in one response. If the counts of a group's subgroups add up to
 * less than its own count, request the rest with `Selection.group`.
 */
export const MAX_LISTED_GROUPS = 10_000

/** Maximum groups of the first level in one response. */
export const MAX_GROUP_PAGE = 2_000
