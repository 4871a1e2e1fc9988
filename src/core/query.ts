import type { Filter } from './filters/filter.ts'
import type { RecordId, Sort } from './model.ts'

/** Text to look for, in one field or (null) in every searchable field. */
export interface Search {
  text: string
  fieldId: string | null
}

/**
 * What a caller wants to read of one table. Everything that reads records describes itself so, and
 * the planner alone turns it into SQL.
 */
export interface Query {
  tableId: string
  /** Applies the view's filter (and) and, where `sorts` is absent, its order. */
  viewId?: string
  /** Field ids in the order wanted; absent: every field that is not a system one. */
  fieldIds?: string[]
  filter?: Filter | null
  sorts?: Sort[]
  search?: Search | null
  /** IANA zone of the person who asks, in which "today" is meant; absent: UTC. */
  timeZone?: string
  /** Only these records, as far as the rest of the query lets them through. */
  recordIds?: RecordId[]
  limit: number
  offset: number
}

/** The part of a query that says which records, for counts, summaries and "all that match" writes. */
export type Selection = Pick<Query, 'tableId' | 'viewId' | 'filter' | 'search' | 'timeZone' | 'recordIds'>
