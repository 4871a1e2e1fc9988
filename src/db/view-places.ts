import { type SQL, sql } from 'drizzle-orm'
import type { Dialect, Engine } from '../dialects/dialect.ts'

/** The table of manual orders, in each base's home. */
export const PLACES_TABLE = 'sheaf_places'

/** Columns of manual orders, with their kinds. */
export const PLACE_KINDS = {
  view_id: 'text',
  table_id: 'text',
  record_id: 'integer',
  place: 'real',
} as const

const PLACE_COLUMNS = Object.keys(PLACE_KINDS).map((name) => sql.raw(name))

/** Copies a view's manual order to another view, whose table has the same record ids. */
export const copyPlaces = (
  { insertSelected }: Pick<Dialect, 'insertSelected'>,
  from: string,
  to: { viewId: string; tableId: string },
): SQL =>
  insertSelected({
    into: sql.raw(PLACES_TABLE),
    columns: PLACE_COLUMNS,
    constants: [],
    values: [
      sql`cast(${to.viewId} as text)`,
      sql`cast(${to.tableId} as text)`,
      sql.raw('record_id'),
      sql.raw('place'),
    ],
    source: sql`from sheaf_places where view_id = ${from}`,
  })

/** Positions that are removed in one transaction. */
const PLACES_AT_ONCE = 20_000

/** Removes the manual orders of tables, in portions. */
export async function removePlaces(engine: Engine, tableIds: readonly string[]): Promise<void> {
  if (tableIds.length === 0) return
  const { dialect } = engine
  const ids = sql.join(
    tableIds.map((id) => sql`${id}`),
    sql`, `,
  )
  const statement = dialect.render(sql`delete from sheaf_places where (view_id, record_id) in (
    select view_id, record_id from sheaf_places where table_id in (${ids}) limit ${sql.raw(String(PLACES_AT_ONCE))})`)
  for (;;) {
    const [part] = await engine.writeScript([statement])
    if (Number(part?.changes ?? 0) < PLACES_AT_ONCE) return
  }
}

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
