import type { CellValue } from './fields/field-type.ts'
import type { Filter } from './filters/filter.ts'
import type { RecordId, Sort } from './model.ts'

/** Text to look for, in one field or (null) in every searchable field. */
export interface Search {
  text: string
  fieldId: string | null
}

/** One group of records: those whose field has exactly this value, as `records.groups` gave it; null: none. */
export interface GroupKey {
  fieldId: string
  value: CellValue
}

/**
 * A read of one table. All reads of records are described this way, and only the planner turns them into SQL.
 */
export interface Query {
  tableId: string
  /** Applies the view's filter (and) and, where `sorts` is absent, its order. */
  viewId?: string
  /** Field ids in the order wanted; absent: every field that is not a system one. */
  fieldIds?: string[]
  filter?: Filter | null
  /**
   * By group first, the outermost level leading: in the order in which `records.groups` lists them, those of a
   * group one after the other. Absent: not grouped, whatever the view says.
   */
  groups?: Sort[]
  sorts?: Sort[]
  /**
   * A view in whose manual order the records are read where nothing sorts or groups them. The page has one more column
   * at its end: each record's position in that order, under `placeKey`.
   */
  orderViewId?: string
  search?: Search | null
  /** Only the records of this group, the outermost level first. */
  group?: GroupKey[]
  /** IANA zone of the person who asks, in which "today" is meant; absent: UTC. */
  timeZone?: string
  /** Only these records, as far as the rest of the query lets them through. */
  recordIds?: RecordId[]
  limit: number
  offset: number
}

/** The part of a query that says which records, for counts, summaries and "all that match" writes. */
export type Selection = Pick<
  Query,
  'tableId' | 'viewId' | 'filter' | 'search' | 'group' | 'timeZone' | 'recordIds'
>

/** Input of `records.groups`. */
export interface GroupRequest {
  selection: Selection
  /** The outermost level first: one at least, `MAX_GROUPS` at most. */
  groups: Sort[]
  /** Summaries computed for each group. */
  summaries: { fieldId: string; summary: string }[]
  /** Counted in groups of the first level. */
  limit: number
  offset: number
}

/** Some records that share their values. */
export interface RecordGroup {
  /** The value of each level down to its own, as `Selection.group` takes them back; null: none. */
  keys: CellValue[]
  count: number
  summaries: Record<string, CellValue>
}

/** Groups in the order of the list, each ahead of its own groups. */
export interface GroupPage {
  groups: RecordGroup[]
  /** True where the first level goes on. */
  hasMore: boolean
}

/**
 * Most groups of one level below the first that one answer lists. Where a group's own count up to less than it
 * does, the rest is asked for by `Selection.group`.
 */
export const MAX_LISTED_GROUPS = 10_000

/** Most groups of the first level in one answer. */
export const MAX_GROUP_PAGE = 2_000
