import { type SQL, sql } from 'drizzle-orm'
import type { Dialect, Engine } from '../dialects/dialect.ts'

/** Copies a view's manual order to another view, whose table has the same record ids. */
export const copyPlaces = (
  { insertSelected }: Pick<Dialect, 'insertSelected'>,
  from: string,
  to: { viewId: string; tableId: string },
): SQL =>
  insertSelected({
    into: sql.raw('sheaf_places'),
    columns: ['view_id', 'table_id', 'record_id', 'place'].map((name) => sql.raw(name)),
    constants: [],
    values: [
      sql`cast(${to.viewId} as text)`,
      sql`cast(${to.tableId} as text)`,
      sql.raw('record_id'),
      sql.raw('place'),
    ],
    source: sql`from sheaf_places where view_id = ${from}`,
  })

/**
 * Rewrites the view and table ids of manual orders in a copied base.
 *
 * @param views the new view and its table by the id of the original view; orders of other views are removed
 */
export async function renamePlaces(
  engine: Engine,
  views: ReadonlyMap<string, { viewId: string; tableId: string }>,
): Promise<void> {
  const rows = await engine.all<{ view_id: string }>(
    { sql: 'select distinct view_id from sheaf_places', params: [] },
    { scan: true },
  )
  const script = rows.map(({ view_id: viewId }) => {
    const fresh = views.get(viewId)
    return engine.dialect.render(
      fresh
        ? sql`update sheaf_places set view_id = ${fresh.viewId}, table_id = ${fresh.tableId} where view_id = ${viewId}`
        : sql`delete from sheaf_places where view_id = ${viewId}`,
    )
  })
  if (script.length > 0) await engine.writeScript(script)
}
