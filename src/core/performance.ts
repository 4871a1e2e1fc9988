import type { Sort } from './model.ts'

/** A term of an index: a field as filters and sorts see it, or as groups do. */
export interface IndexTerm {
  fieldId: string
  as: 'value' | 'group'
  direction: Sort['direction']
}

/**
 * Why no index can hold the values of a formula: they change with `time`, with the `zone` of the viewer or with
 * `otherRecords`, the database has no `expression` for them that an index takes, or it exceeds the `length`.
 */
export type UnindexedReason = 'time' | 'zone' | 'otherRecords' | 'expression' | 'length'

/** A formula by which a view filters, sorts or groups, and of which there can be no index. */
export interface UnindexedFormula {
  fieldId: string
  reason: UnindexedReason
}

/** An index of a table. */
export interface TableIndex {
  id: string
  terms: IndexTerm[]
  /** True if it was created for reads that took long; such an index is dropped when it is no longer used. */
  isAutomatic: boolean
  state: 'building' | 'ready' | 'failed'
  /** Why it could not be built. */
  error: string | null
  /** Size in the database; null if unknown. */
  bytes: number | null
  createdAt: string
  /** The last day on which a read needed it. */
  usedAt: string
}

/** How the database reads the first page of a view. A number is null while it would take long to count. */
export interface ViewExplanation {
  /** Records that are read: all, or an estimate. */
  reads: number | null
  /** Records on the page. */
  returns: number | null
  /** Records of the view. */
  matches: number | null
  /** True if the matching records are sorted first. */
  sorts: boolean
  /** True if the database's indexes are used. */
  usesIndex: boolean
  /** True if the records are found by the search index of the table, as the view's filter looks for a text. */
  usesSearchIndex: boolean
}

/** A view whose first page was read. */
export interface ViewMeasurement extends ViewExplanation {
  /** Time of the read. */
  ms: number
}

export interface ViewPerformance extends ViewExplanation {
  viewId: string
  /** Terms of an index that would help; null if none would, or it exists. */
  suggestion: IndexTerm[] | null
  /** True if a search index would help, which the table does not have, or not for the fields of the view's filter. */
  suggestsSearchIndex: boolean
  unindexed: UnindexedFormula[]
}

/** What the search index of a table does. */
export interface SearchIndexState {
  /**
   * `none`: the table is small, or was not searched yet. `unavailable`: the database has no trigrams, and its account may
   * not add them.
   */
  state: 'none' | 'building' | 'ready' | 'failed' | 'unavailable'
  /** The part that is built, from 0 to 1. */
  part: number
}

/** How the views of a table are read, and its indexes. */
export interface TablePerformance {
  /** Records in the table; null while it would take long to count them. */
  records: number | null
  views: ViewPerformance[]
  indexes: TableIndex[]
  /** Null for tables of connected databases, whose searches have no index. */
  search: SearchIndexState | null
}
