import { type SQL, sql } from 'drizzle-orm'
import type { Operation, RecordChange, Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { Dialect, Transaction } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'
import { columnName, columnOf, decoderOf } from './columns.ts'
import { placeRecords } from './order.ts'
import { perModel } from './per-model.ts'
import { chunks, readRecords, requireAll } from './read-stored.ts'
import { isWritable } from './validate.ts'
import type { WriteContext } from './write-context.ts'

/** Key of a value in the log whose column belongs to no live field: one in the trash, which must survive. */
export const RAW_PREFIX = '='

/** The columns that an insert fills, in order, and where its values come from. */
const insertPlan = perModel((model) => {
  const system = systemFields(model)
  const written = model.fields.filter(isWritable)
  return { system, written, columns: [model.primaryKey, ...system, ...written].map(columnName) }
})

/** Adds records with fresh ids, whose values are checked and complete. */
export async function insertRecords(
  context: WriteContext,
  operation: Extract<Operation, { kind: 'insert' }>,
): Promise<RecordChange[]> {
  const { tx, dialect, model, actorId, now } = context
  const { rows } = operation
  if (rows.length === 0) return []
  const { system, written, columns } = insertPlan(model)
  const ids = await dialect.allocateIds(tx, model.table.tableName, rows.length)
  const places = await placeRecords(context, rows.length, operation.before ?? null)
  const fixed = new Map<string, CellValue>([
    ['created_at', now],
    ['created_by', actorId],
  ])
  const changes: RecordChange[] = []
  const params = rows.map(({ values }, index) => {
    const id = ids[index]!
    const after: Values = { [model.primaryKey.id]: id }
    const list: CellValue[] = [id]
    for (const field of system) {
      const name = columnName(field)
      const value = name === 'nc_order' ? places[index]! : (fixed.get(name) ?? null)
      after[field.id] = value
      list.push(value)
    }
    for (const field of written) {
      const value = values[field.id] ?? null
      after[field.id] = value
      list.push(value)
    }
    changes.push({ tableId: model.table.id, recordId: id, before: null, after })
    return list
  })
  await tx.runMany(insertStatement(dialect, model, columns), params)
  return changes
}

/** Puts back records that were deleted, with everything the log kept of them. */
export async function restoreRecords(
  context: WriteContext,
  rows: { id: RecordId; values: Values }[],
): Promise<RecordChange[]> {
  const { tx, dialect, model } = context
  const present = new Set(
    (
      await readIds(
        context,
        rows.map((row) => row.id),
      )
    ).map(String),
  )
  const changes: RecordChange[] = []
  const batch = createBatch(tx)
  for (const { id, values } of rows) {
    if (present.has(String(id))) continue
    const entries = Object.entries(values).flatMap(([key, value]) => {
      if (key.startsWith(RAW_PREFIX)) return [[key.slice(RAW_PREFIX.length), value] as const]
      const field = model.field(key)
      const column = field ? columnName(field) : model.trashedColumns.get(key)
      return column !== undefined && !field?.isPrimaryKey ? [[column, value] as const] : []
    })
    const columns = new Map<string, CellValue>([[columnName(model.primaryKey), id], ...entries])
    await batch.add(insertStatement(dialect, model, [...columns.keys()]), [...columns.values()])
    changes.push({ tableId: model.table.id, recordId: id, before: null, after: values })
  }
  await batch.flush()
  return changes
}

/**
 * Changes values of records. A record whose values are the same already is left as it is.
 *
 * @throws RECORD_NOT_FOUND naming every id that is not there
 */
export async function updateRecords(
  context: WriteContext,
  rows: { id: RecordId; values: Values }[],
): Promise<RecordChange[]> {
  const { tx, dialect, model, actorId, now } = context
  const fields = model.fields.filter((field) => rows.some((row) => field.id in row.values))
  const touched = [fieldNamed(model, 'updated_at'), fieldNamed(model, 'updated_by')]
  const before = await readRecords(
    context,
    rows.map((row) => row.id),
    [...fields, ...touched],
  )
  requireAll(
    rows.map((row) => row.id),
    before,
  )
  const changes: RecordChange[] = []
  const table = dialect.quote(model.table.tableName)
  const key = dialect.quote(columnName(model.primaryKey))
  const batch = createBatch(tx)
  for (const { id, values } of rows) {
    const old = before.get(String(id))!
    const changed = fields.filter((field) => field.id in values && values[field.id] !== old[field.id])
    if (changed.length === 0) continue
    const after: Values = { [touched[0]!.id]: now, [touched[1]!.id]: actorId }
    for (const field of changed) after[field.id] = values[field.id] ?? null
    const all = [...changed, ...touched]
    const assignments = all.map((field) => `${dialect.quote(columnName(field))} = ?`).join(', ')
    await batch.add(`update ${table} set ${assignments} where ${key} = ?`, [
      ...all.map((field) => after[field.id] ?? null),
      id,
    ])
    changes.push({
      tableId: model.table.id,
      recordId: id,
      before: Object.fromEntries(all.map((field) => [field.id, old[field.id] ?? null])),
      after,
    })
    // The same record may stand twice in one change: the second time starts from what the first wrote.
    Object.assign(old, after)
  }
  await batch.flush()
  return changes
}

/**
 * Removes records, keeping every column of them in the log.
 *
 * @throws RECORD_NOT_FOUND naming every id that is not there
 */
export async function deleteRecords(context: WriteContext, ids: RecordId[]): Promise<RecordChange[]> {
  const { tx, dialect, model } = context
  const key = columnName(model.primaryKey)
  const byColumn = new Map(
    model.fields
      .filter((field) => columnName(field) === field.columnName)
      .map((field) => [field.columnName, field]),
  )
  const found = new Map<string, Values>()
  for (const chunk of chunks(ids)) {
    const rows = await tx.all<Record<string, CellValue>>(
      dialect.render(sql`select * from ${sql.identifier(model.table.tableName)} where ${idIn(model, chunk)}`),
    )
    for (const row of rows) {
      const values: Values = {}
      for (const [column, value] of Object.entries(row)) {
        const field = byColumn.get(column)
        if (field) values[field.id] = decoderOf(field, dialect)?.(value) ?? value
        else if (value !== null) values[RAW_PREFIX + column] = value
      }
      found.set(String(row[key]), values)
    }
  }
  requireAll(ids, found)
  await tx.runMany(
    `delete from ${dialect.quote(model.table.tableName)} where ${dialect.quote(key)} = ?`,
    [...new Set(ids)].map((id) => [id]),
  )
  return [...found].map(([id, before]) => ({
    tableId: model.table.id,
    recordId: (before[model.primaryKey.id] as RecordId) ?? id,
    before,
    after: null,
  }))
}

/** Gives records new places in the table's own order. */
export async function moveRecords(
  context: WriteContext,
  ids: RecordId[],
  before: RecordId | null,
): Promise<RecordChange[]> {
  const order = fieldNamed(context.model, 'nc_order')
  const places = await placeRecords(context, ids.length, before)
  const { tx, dialect, model } = context
  const old = await readRecords(context, ids, [order])
  requireAll(ids, old)
  await tx.runMany(
    `update ${dialect.quote(model.table.tableName)} set ${dialect.quote('nc_order')} = ? where ${dialect.quote(columnName(model.primaryKey))} = ?`,
    ids.map((id, index) => [places[index], id]),
  )
  return ids.map((id, index) => ({
    tableId: model.table.id,
    recordId: id,
    before: old.get(String(id))!,
    after: { [order.id]: places[index]! },
  }))
}

async function readIds(context: WriteContext, ids: RecordId[]): Promise<string[]> {
  return [...(await readRecords(context, ids, [])).keys()]
}

/** The columns that every table of ours has for itself. */
export function systemFields(model: TableModel): Field[] {
  return model.fields.filter((field) => field.isSystem)
}

export function fieldNamed(model: TableModel, column: string): Field {
  const field = model.fields.find((candidate) => candidate.isSystem && columnName(candidate) === column)
  if (!field) throw new Error(`Table ${model.table.id} has no system column ${column}`)
  return field
}

function insertStatement(dialect: Dialect, model: TableModel, columns: string[]): string {
  const marks = columns.map(() => '?').join(', ')
  return `insert into ${dialect.quote(model.table.tableName)} (${columns.map(dialect.quote).join(', ')}) values (${marks})`
}

const idIn = (model: TableModel, ids: RecordId[]): SQL =>
  sql`${columnOf(model.primaryKey)} in (${sql.join(
    ids.map((id) => sql`${id}`),
    sql`, `,
  )})`

/**
 * Runs statements in order, those that follow one another with the same text as one list: it is
 * prepared once, and a long list lets others in between.
 */
function createBatch(tx: Transaction) {
  let text = ''
  let rows: CellValue[][] = []
  const flush = async () => {
    if (rows.length > 0) await tx.runMany(text, rows)
    rows = []
  }
  return {
    flush,
    async add(sqlText: string, params: CellValue[]): Promise<void> {
      if (sqlText !== text) await flush()
      text = sqlText
      rows.push(params)
    },
  }
}
