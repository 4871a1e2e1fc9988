import { type SQL, sql } from 'drizzle-orm'
import { positionKey, type RecordChange } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { isDeletedRecord } from '../../../src/db/change-log/trash.ts'
import { viewsInLog } from '../../../src/db/change-log/view-deletions.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import {
  chunks,
  columnIn,
  columnOf,
  keyOf,
  listOf,
  ownOrder,
  perDialect,
  readRecords,
  requireAll,
  type WriteContext,
} from '../table/index.ts'

/*
 * Manual order. `nc_order` orders the records of a table; `sheaf_places` in the base’s home has the positions of
 * records that someone moved in a view. Other records of the view use their `nc_order`, in the same number space: a
 * move writes one row, and new or moved records have a position in every view.
 */

/** A record’s position in a view; null: it has none of its own. */
export interface Place {
  id: RecordId
  place: number | null
}

/** The position of the statement’s record in a view; NULL if it has none of its own. */
const placeIn = (model: TableModel, viewId: string): SQL =>
  sql`(select place from sheaf_places where view_id = ${viewId} and record_id = ${keyOf(model)})`

const idOf = (model: TableModel): SQL => columnIn({ alias: model.table.tableName }, model.primaryKey)

const tableOrder = (model: TableModel): SQL =>
  ownOrder({ alias: model.table.tableName, model })[0] ?? idOf(model)

/** The last column of a page, see `Query.orderViewId`. */
export const placeColumn = placeIn

/** The sort terms of a view’s manual order. */
export const manualOrder = (model: TableModel, viewId: string): SQL[] => [
  sql`coalesce(${placeIn(model, viewId)}, ${tableOrder(model)})`,
  idOf(model),
]

/** The positions of a view as a derived table, under names that no column has. */
const linesOf = (viewId: string): SQL => {
  const [record, place] = [sql.identifier('~record'), sql.identifier('~place')]
  return sql`(select record_id as ${record}, place as ${place} from sheaf_places where view_id = ${viewId}) as ${sql.identifier('~lines')}`
}

/** True for records without their own position in the view. */
const isUnplaced = (model: TableModel, viewId: string): SQL =>
  sql`not exists (select 1 from sheaf_places where view_id = ${viewId} and record_id = ${idOf(model)})`

const both = (conditions: (SQL | null)[]): SQL => {
  const given = conditions.filter((condition) => condition !== null)
  return given.length === 0 ? sql`` : sql`where ${sql.join(given, sql` and `)}`
}

/**
 * The ids (`k`) of a page in a view’s manual order. Merges two lists that indexes provide in order, records with
 * their own position and the others; each is read only as far as the page goes.
 *
 * @param how the position up to which records are read, as SQL; absent: all. And how the order of the table is written
 */
export function manualPage(
  model: TableModel,
  viewId: string,
  condition: SQL | null,
  { limit, offset }: { limit: number; offset: number },
  how: { last?: SQL; ordered?: (order: SQL) => SQL } = {},
): SQL {
  const table = sql.identifier(model.table.tableName)
  const [record, place] = [sql.identifier('~record'), sql.identifier('~place')]
  const id = idOf(model)
  const upToLast = (order: SQL) => (how.last ? sql`${order} <= ${how.last}` : null)
  const order = tableOrder(model)
  // Not bound: SQLite replans for every bound limit.
  const end = sql.raw(String(Math.floor(limit) + Math.floor(offset)))
  const others = sql`select ${id} as k, ${order} as o from ${table}
    ${both([condition, isUnplaced(model, viewId), upToLast(order)])}
    order by ${how.ordered?.(order) ?? order}, ${id} limit ${end}`
  // A cross join, so that SQLite starts with the positions, however many records the table has.
  const placed = sql`select ${id} as k, ${place} as o from ${linesOf(viewId)} cross join ${table}
    ${both([sql`${id} = ${record}`, condition, upToLast(sql`${place}`)])} order by ${place}, ${record} limit ${end}`
  return sql`select k from (select k, o from (${others}) as others
    union all select k, o from (${placed}) as placed) as merged
    order by o, k limit ${sql.raw(String(Math.floor(limit)))} offset ${offset}`
}

/**
 * Ids (`k`) and positions (`n`, from 0) of records within a condition, in a view’s manual order. Counts the records
 * before each, which is several times faster than sorting all.
 */
export function manualPositions(
  model: TableModel,
  viewId: string,
  condition: SQL | null,
  recordIds: readonly RecordId[],
): SQL {
  const table = sql.identifier(model.table.tableName)
  const [record, place, target] = ['~record', '~place', '~target'].map((name) => sql.identifier(name))
  const [id, order] = [idOf(model), tableOrder(model)]
  const list = listOf(recordIds)
  const end = sql`(${target}.o, ${target}.k)`
  const wanted = sql`select ${id} as k, coalesce(${placeIn(model, viewId)}, ${order}) as o
    from ${table} ${both([sql`${id} in (${list})`, condition])}`
  const others = sql`select count(*) from ${table}
    ${both([condition, isUnplaced(model, viewId), sql`(${order}, ${id}) < ${end}`])}`
  const placed = sql`select count(*) from ${linesOf(viewId)} cross join ${table}
    ${both([sql`${id} = ${record}`, condition, sql`(${place}, ${record}) < ${end}`])}`
  return sql`select k, (${others}) + (${placed}) as n from (${wanted}) as ${target}`
}

/**
 * Moves records before another in a view’s manual order, or (null) to the end.
 *
 * @throws RECORD_NOT_FOUND
 */
export async function placeInView(
  context: WriteContext,
  viewId: string,
  ids: RecordId[],
  before: RecordId | null,
): Promise<RecordChange[]> {
  requireAll(ids, await readRecords(context, ids, []))
  const places = await allocatePositions(context, ids.length, before, viewId)
  return writePlaces(
    context,
    viewId,
    ids.map((id, index) => ({ id, place: places[index] ?? null })),
  )
}

/** Sets or (null) removes the positions of records in a view. Returns only actual changes. */
export async function writePlaces(
  context: WriteContext,
  viewId: string,
  rows: Place[],
): Promise<RecordChange[]> {
  const { tx, dialect, model } = context
  const old = await readPlaces(
    context,
    viewId,
    rows.map(({ id }) => id),
  )
  const changed = rows.filter(({ id, place }) => (old.get(String(id)) ?? null) !== place)
  const mark = dialect.placeholder
  const set = changed.filter(({ place }) => place !== null)
  await tx.runMany(
    `insert into sheaf_places (view_id, record_id, table_id, place)
      values (${mark(0)}, ${mark(1)}, ${mark(2)}, ${mark(3)})
      on conflict (view_id, record_id) do update set place = excluded.place`,
    set.map(({ id, place }) => [viewId, id, model.table.id, place]),
  )
  await tx.runMany(
    `delete from sheaf_places where view_id = ${mark(0)} and record_id = ${mark(1)}`,
    changed.filter(({ place }) => place === null).map(({ id }) => [viewId, id]),
  )
  const key = positionKey(viewId)
  return changed.map(({ id, place }) => ({
    tableId: model.table.id,
    recordId: id,
    before: { [key]: old.get(String(id)) ?? null },
    after: { [key]: place },
  }))
}

/** The views in which records of a table have positions. */
export async function viewsWithPlaces(
  engine: Pick<Engine, 'all' | 'dialect'>,
  tableId: string,
): Promise<string[]> {
  const rows = await engine.all<{ view_id: string }>(
    engine.dialect.render(sql`select distinct view_id from sheaf_places where table_id = ${tableId}`),
    { scan: true },
  )
  return rows.map(({ view_id }) => view_id)
}

/** The positions of records in a view, by id as text; those without one are absent. */
export async function readPlaces(
  { tx, dialect }: Pick<WriteContext, 'tx' | 'dialect'>,
  viewId: string,
  ids: readonly RecordId[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const chunk of chunks(ids)) {
    const rows = await tx.all<{ id: RecordId; place: number }>(
      dialect.render(
        sql`select record_id as id, place from sheaf_places where view_id = ${viewId} and record_id in (${listOf(chunk)})`,
      ),
    )
    for (const { id, place } of rows) found.set(String(id), Number(place))
  }
  return found
}

/**
 * Neighbours closer than this, relative to their size, leave no number between them, and the table is renumbered.
 * Doubles keep about sixteen digits, and a new number must differ from both.
 */
const LEAST_GAP = 1e-14

/**
 * Positions for `count` new or moved records before another one, or at the end where `before` is null: in a view's manual
 * order, or (`viewId` null) in the table's own. A position between two others is a number between theirs, so a move
 * writes one record and no neighbour.
 *
 * @throws RECORD_NOT_FOUND where `before` is not in the table
 */
export async function allocatePositions(
  context: WriteContext,
  count: number,
  before: RecordId | null,
  viewId: string | null,
): Promise<number[]> {
  const { batch } = context.tx
  if (batch && before === null) {
    const readLast = async () => (await findBounds(context, null, viewId)).previous
    const last = await batch.continueFrom(`places ${context.model.table.id}`, count, readLast)
    return Array.from({ length: count }, (_, index) => last + index + 1)
  }
  const { previous, next } = await findBounds(context, before, viewId)
  const spread = (step: number) => Array.from({ length: count }, (_, index) => previous + step * (index + 1))
  if (next === null) return spread(1)
  const step = (next - previous) / (count + 1)
  if (step > LEAST_GAP * Math.max(1, Math.abs(next), Math.abs(previous))) return spread(step)
  await renumber(context, count + 1)
  return allocatePositions(context, count, before, viewId)
}

/** Selects the last positions of a table and of its views, rendered once because every insert runs it. */
const lastPosition = perDialect((model: TableModel, dialect) =>
  dialect.render(
    sql`select max(${tableOrder(model)}) as last,
        (select max(place) from sheaf_places where table_id = ${model.table.id}) as placed
      from ${sql.identifier(model.table.tableName)}`,
  ),
)

async function findBounds(
  { tx, dialect, model }: WriteContext,
  before: RecordId | null,
  viewId: string | null,
): Promise<{ previous: number; next: number | null }> {
  const table = sql.identifier(model.table.tableName)
  const [order, id] = [tableOrder(model), idOf(model)]
  const one = async <T extends object>(statement: SQL): Promise<T | undefined> =>
    (await tx.all<T>(dialect.render(statement)))[0]
  if (before === null) {
    // After every view's manual order too, which shares these numbers: new records come last in all of them.
    const [row] = await tx.all<{ last: number | null; placed: number | null }>(lastPosition(model, dialect))
    return { previous: Math.max(Number(row?.last ?? 0), Number(row?.placed ?? 0)), next: null }
  }
  const position = viewId === null ? order : sql`coalesce(${placeIn(model, viewId)}, ${order})`
  const target = await one<{ o: number | null }>(
    sql`select ${position} as o from ${table} where ${id} = ${before}`,
  )
  if (!target) throw notFound('Record', String(before))
  const next = Number(target.o ?? 0)
  const neighbours = [
    await one<{ o: number }>(
      sql`select ${order} as o from ${table} where (${order}, ${id}) < (${next}, ${before})
        ${viewId === null ? sql`` : sql`and ${isUnplaced(model, viewId)}`} order by ${order} desc, ${id} desc limit 1`,
    ),
    viewId === null
      ? undefined
      : await one<{ o: number }>(
          sql`select place as o from sheaf_places where view_id = ${viewId} and (place, record_id) < (${next}, ${before})
            order by place desc, record_id desc limit 1`,
        ),
  ].flatMap((row) => (row ? [Number(row.o)] : []))
  return { previous: neighbours.length === 0 ? next - 1 : Math.max(...neighbours), next }
}

/**
 * Renumbers all records in their current order, `gap` apart, and moves the positions in views' manual orders so that
 * they stay between the same records. Rare: after about thirty moves to one spot.
 */
async function renumber(
  { tx, dialect, model, renumbered }: Pick<WriteContext, 'tx' | 'dialect' | 'model' | 'renumbered'>,
  gap: number,
): Promise<void> {
  renumbered.add(model.table.id)
  const table = sql.identifier(model.table.tableName)
  const order = sql.identifier('nc_order')
  const id = columnOf(model.primaryKey)
  const tableId = model.table.id
  const places = await tx.all(
    dialect.render(sql`select 1 as n from sheaf_places where table_id = ${tableId} limit 1`),
  )
  if (places.length > 0) {
    // `ahead` is the number of records before a position of a view `v`. Positions with the same number lie in the same
    // gap, and are spaced evenly in it.
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

interface SweepDeps {
  schema: Pick<SchemaReader, 'load' | 'hasTable'>
  views: Pick<ViewsService, 'titlesOf'>
}

/**
 * Removes positions of deleted views and records that the log can no longer restore. Those of unknown tables stay: the tables
 * may be on their way from another base.
 *
 * @returns the number of removed positions
 */
export async function removeLostPlaces(engine: Engine, { schema, views }: SweepDeps): Promise<number> {
  const { dialect } = engine
  const rows = await engine.all<{ view_id: string; table_id: string }>(
    { sql: 'select distinct view_id, table_id from sheaf_places', params: [] },
    { scan: true },
  )
  if (rows.length === 0) return 0
  const live = new Map(await views.titlesOf(rows.map(({ view_id }) => view_id)))
  const deleted = await viewsInLog(engine)
  const script: Statement[] = []
  for (const { view_id: viewId, table_id: tableId } of rows) {
    if (live.has(viewId) || deleted.has(viewId) || !(await schema.hasTable(tableId))) continue
    script.push(dialect.render(sql`delete from sheaf_places where view_id = ${viewId}`))
  }
  for (const tableId of new Set(rows.map(({ table_id }) => table_id))) {
    const model = await schema.load(tableId).catch((error) => {
      // A table in the trash still has all its records.
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    })
    if (!model) continue
    const record = sql`sheaf_places.record_id`
    script.push(
      dialect.render(sql`delete from sheaf_places where table_id = ${tableId}
        and not exists (select 1 from ${sql.identifier(model.table.tableName)} where ${idOf(model)} = ${record})
        and not ${isDeletedRecord(dialect, tableId, record)}`),
    )
  }
  const results = await engine.writeScript(script)
  return results.reduce((sum, { changes }) => sum + Number(changes ?? 0), 0)
}
