import { sql } from 'drizzle-orm'
import { notFound } from '../../../src/core/errors.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { columnOf, type WriteContext } from '../table/index.ts'

/**
 * Neighbours nearer than this, for their size, leave no room for a number between them: the table is
 * numbered anew. Doubles keep some sixteen digits, and a number has to differ from both for certain.
 */
export const LEAST_GAP = 1e-14

/**
 * Order keys for `count` records that go ahead of a record, or to the end where `before` is null.
 * A key between two others is a number between theirs, so a move writes one record and no neighbour.
 *
 * @throws RECORD_NOT_FOUND where `before` is not in the table
 */
export async function placeRecords(
  context: WriteContext,
  count: number,
  before: RecordId | null,
): Promise<number[]> {
  const bounds = await findBounds(context, before)
  const spread = (from: number, step: number) =>
    Array.from({ length: count }, (_, index) => from + step * (index + 1))
  if (bounds.next === null) return spread(bounds.previous, 1)
  const step = (bounds.next - bounds.previous) / (count + 1)
  if (step > LEAST_GAP * Math.max(1, Math.abs(bounds.next), Math.abs(bounds.previous)))
    return spread(bounds.previous, step)
  await renumber(context, count + 1)
  return placeRecords(context, count, before)
}

async function findBounds(
  { tx, dialect, model }: WriteContext,
  before: RecordId | null,
): Promise<{ previous: number; next: number | null }> {
  const table = sql.identifier(model.table.tableName)
  const order = sql.identifier('nc_order')
  if (before === null) {
    // Behind every view's manual order as well, which shares these numbers: new records come last in all of them.
    const [row] = await tx.all<{ last: number | null; placed: number | null }>(
      dialect.render(
        sql`select max(${order}) as last, (select max(place) from sheaf_places where table_id = ${model.table.id}) as placed
          from ${table}`,
      ),
    )
    return { previous: Math.max(Number(row?.last ?? 0), Number(row?.placed ?? 0)), next: null }
  }
  const id = columnOf(model.primaryKey)
  const [target] = await tx.all<{ place: number | null }>(
    dialect.render(sql`select ${order} as ${sql.identifier('place')} from ${table} where ${id} = ${before}`),
  )
  if (!target) throw notFound('Record', String(before))
  const next = target.place ?? 0
  const [row] = await tx.all<{ place: number | null }>(
    dialect.render(
      sql`select ${order} as ${sql.identifier('place')} from ${table}
        where (${order}, ${id}) < (${next}, ${before}) order by ${order} desc, ${id} desc limit 1`,
    ),
  )
  return { previous: row?.place ?? next - 1, next }
}

/**
 * Spaces all records `gap` apart in the order that they have, and the positions of views between the same records as
 * before. Rare: after some thirty moves to one spot.
 */
export async function renumber(
  { tx, dialect, model }: Pick<WriteContext, 'tx' | 'dialect' | 'model'>,
  gap: number,
): Promise<void> {
  const table = sql.identifier(model.table.tableName)
  const order = sql.identifier('nc_order')
  const id = columnOf(model.primaryKey)
  const tableId = model.table.id
  const places = await tx.all(
    dialect.render(sql`select 1 as n from sheaf_places where table_id = ${tableId} limit 1`),
  )
  if (places.length > 0) {
    // How many records stand ahead of a position says between which it belongs; those at one spot share the room there.
    await tx.run(
      dialect.render(sql`update sheaf_places set place = spaced.n from
        (select v, k, ${gap} * (ahead + 1.0 * row_number() over (partition by v, ahead order by o, k)
            / (count(*) over (partition by v, ahead) + 1)) as n
          from (select v, k, o, sum(own) over (order by o, k, own rows unbounded preceding) as ahead
            from (select null as v, ${id} as k, ${order} as o, 1 as own from ${table}
              union all select view_id, record_id, place, 0 from sheaf_places where table_id = ${tableId}) as merged) as ranked
          where v is not null) as spaced
        where spaced.v = sheaf_places.view_id and spaced.k = sheaf_places.record_id`),
    )
  }
  await tx.run(
    dialect.render(
      sql`update ${table} set ${order} = ranked.n from
        (select ${id} as k, row_number() over (order by ${order}, ${id}) * ${gap} as n from ${table}) as ranked
        where ranked.k = ${table}.${id}`,
    ),
  )
}
