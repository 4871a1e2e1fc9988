import { type Column, gt, gte, lt, type SQL, sql } from 'drizzle-orm'

/** Where a list of several bases goes on that is ordered by time, the newest first, then by base, then by id. */
export interface ListPosition<Id> {
  at: string
  baseId: string
  /** Of the items of that time in that base: all follow, none, or those after this one. */
  rest: 'all' | 'none' | { after: Id }
}

/** Condition of the rows after a position; ids ascend, or descend in each base. */
export function isAfterPosition<Id>(
  columns: { at: Column; baseId: Column; id: Column },
  { at, baseId, rest }: ListPosition<Id>,
  ids: 'ascending' | 'descending',
): SQL {
  const compareIds = ids === 'ascending' ? gt : lt
  const inBase =
    rest === 'all'
      ? gte(columns.baseId, baseId)
      : rest === 'none'
        ? gt(columns.baseId, baseId)
        : sql`(${gt(columns.baseId, baseId)} or (${columns.baseId} = ${baseId} and ${compareIds(columns.id, rest.after)}))`
  return sql`(${lt(columns.at, at)} or (${columns.at} = ${at} and ${inBase}))`
}
