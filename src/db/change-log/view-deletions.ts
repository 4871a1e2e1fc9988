import { sql } from 'drizzle-orm'
import type { Engine } from '../../dialects/dialect.ts'
import { FINAL, listOf, type StoredEntry, selectEntries } from './entry.ts'

/*
 * Deleted views, which are kept in the entries of their deletions alone.
 */

/**
 * The deletions of views of some tables that can still be undone, newest first.
 *
 * @param before the id of the last entry of the page before
 * @param actorId the user who deleted them; undefined: anybody
 * @param until ISO 8601: only those that were deleted by then
 */
export const listViewDeletions = (
  engine: Engine,
  tableIds: readonly string[],
  { before, actorId, until, limit }: { before?: number; actorId?: string; until?: string; limit: number },
): Promise<StoredEntry[]> =>
  selectEntries(
    engine,
    sql`where detail is not null and kind = 'view.delete' and undone_by is null and table_id in (${listOf(tableIds)})
      ${before === undefined ? sql`` : sql`and id < ${before}`}
      ${actorId === undefined ? sql`` : sql`and actor_id = ${actorId}`}
      ${until === undefined ? sql`` : sql`and at <= ${until}`}
      order by id desc limit ${limit}`,
  )

/** Makes the deletions of views up to an entry final. Returns their number. */
export async function finalizeViewDeletionsUntil(engine: Engine, until: number): Promise<number> {
  const [marked] = await engine.writeScript([
    engine.dialect.render(sql`update sheaf_changes set undone_by = ${sql.raw(String(FINAL))}
      where id <= ${until} and kind = 'view.delete' and undone_by is null`),
  ])
  return marked?.changes ?? 0
}

/** Makes the deletion of a view final. False if the entry is no view deletion, or is already undone or final. */
export async function finalizeViewDeletion(engine: Engine, entryId: number): Promise<boolean> {
  const [marked] = await engine.writeScript([
    engine.dialect.render(sql`update sheaf_changes set undone_by = ${sql.raw(String(FINAL))}
      where id = ${entryId} and kind = 'view.delete' and undone_by is null`),
  ])
  return (marked?.changes ?? 0) > 0
}

/** Undo data of deleted views of some tables, oldest first. */
export async function viewDeletionDetails(engine: Engine, tableIds: readonly string[]): Promise<unknown[]> {
  const rows = await engine.all<{ detail: string }>(
    engine.dialect.render(sql`select detail from sheaf_changes
      where detail is not null and kind = 'view.delete' and table_id in (${listOf(tableIds)}) order by id`),
  )
  return rows.map(({ detail }) => JSON.parse(detail))
}

/** The views that an entry can bring back. Reads the whole log. */
export async function viewsInLog(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.all<{ detail: string }>(
    {
      sql: `select detail from sheaf_changes where detail is not null and kind in ('view.delete', 'view.create')`,
      params: [],
    },
    { scan: true },
  )
  return new Set(rows.flatMap(({ detail }) => (JSON.parse(detail) as { viewId?: string }).viewId ?? []))
}
