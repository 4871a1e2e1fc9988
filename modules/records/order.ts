import { sql } from 'drizzle-orm'
import { notFound } from '../../src/core/errors.ts'
import type { RecordId } from '../../src/core/model.ts'
import { columnOf } from './columns.ts'
import type { WriteContext } from './write-context.ts'

/**
 * Neighbours nearer than this, for their size, leave no room for a number between them: the table is
 * numbered anew. Doubles keep some sixteen digits, and a number has to differ from both for certain.
 */
const LEAST_GAP = 1e-14

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
    const name = dialect.quote('nc_order')
    const statement = `select max(${name}) as last from ${dialect.quote(model.table.tableName)}`
    const [row] = await tx.all<{ last: number | null }>({ sql: statement, params: [] })
    return { previous: row?.last ?? 0, next: null }
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

/** Spaces all records `gap` apart in the order that they have. Rare: after some thirty moves to one spot. */
async function renumber({ tx, dialect, model }: WriteContext, gap: number): Promise<void> {
  const table = sql.identifier(model.table.tableName)
  const order = sql.identifier('nc_order')
  const id = columnOf(model.primaryKey)
  await tx.run(
    dialect.render(
      sql`update ${table} set ${order} = ranked.n from
        (select ${id} as k, row_number() over (order by ${order}, ${id}) * ${gap} as n from ${table}) as ranked
        where ranked.k = ${table}.${id}`,
    ),
  )
}
