import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/** Ids per statement: well below every engine's limit of bound parameters. */
const IDS_AT_ONCE = 200

/** New ids in portions of a statement's size. */
export function* idBatches(ids: ReadonlyMap<string, string>): Generator<[string, string][], void, undefined> {
  const all = [...ids]
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) yield all.slice(from, from + IDS_AT_ONCE)
}

/** The value of a column of ids under its new id; other values stay as they are. */
export const renamedIds = (column: AnyColumn, ids: readonly [string, string][]): SQL =>
  sql`case ${column} ${sql.join(
    ids.map(([from, to]) => sql`when ${from} then ${to}`),
    sql` `,
  )} else ${column} end`
