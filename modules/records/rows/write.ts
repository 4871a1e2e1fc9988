import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { breathe, breathing, mapBreathing } from '../../../src/breathe.ts'
import type { Operation, RecordChange, UpdatedRow, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { autoNumber } from '../../../src/core/fields/auto-number.ts'
import { isComputed } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  asStored,
  assigned,
  deleteForeign,
  exactOf,
  exactTextOf,
  insertForeign,
  readMore,
  refuseKeyChange,
  restoreForeign,
  sampleDates,
} from '../foreign/index.ts'
import {
  chunks,
  columnName,
  decoderOf,
  encoded,
  idIn,
  idOfKey,
  isForeign,
  isOurs,
  isWritable,
  keyFieldsOf,
  keyText,
  keyValues,
  orderField,
  perDialect,
  perModel,
  quotedColumn,
  readRecords,
  requireAll,
  type WriteContext,
} from '../table/index.ts'
import { allocatePositions } from './order.ts'

/** Prefix of log keys for columns without a live field, e.g. of a field in the trash, whose values must survive. */
export const RAW_PREFIX = '='

/** The columns that an insert fills, in order, by the source of their values, and its statement. */
const insertPlan = perDialect((model: TableModel, dialect) => {
  const system = systemFields(model).map((field) => ({ field, name: columnName(field) }))
  const written = model.fields.filter(isWritable)
  const numbered = model.fields
    .filter(numbersRecords)
    .map((field) => ({ field, behind: autoNumber.options.parse(field.options).behind }))
  const fields = [model.primaryKey, ...[...system, ...numbered].map(({ field }) => field), ...written]
  return { system, written, numbered, sql: insertStatement(dialect, model, fields.map(columnName)) }
})

/** The fields that an update stamps; none in connected databases. */
const stampedFields = perModel((model) =>
  isOurs(model) ? [fieldNamed(model, 'updated_at'), fieldNamed(model, 'updated_by')] : [],
)

/** Inserts records with new ids; their values are checked and complete. */
export async function insertRecords(
  context: WriteContext,
  operation: Extract<Operation, { kind: 'insert' }>,
): Promise<RecordChange[]> {
  const { tx, dialect, model, actorId, now } = context
  const { rows } = operation
  if (rows.length === 0) return []
  if (!isOurs(model)) return insertForeign(context, operation)
  const plan = insertPlan(model, dialect)
  // In one round trip, where the database is on another machine.
  const [ids, places] = await Promise.all([
    dialect.allocateIds(tx, model.table.tableName, rows.length),
    orderField(model) ? allocatePositions(context, rows.length, operation.before ?? null, null) : null,
  ])
  const changes: RecordChange[] = []
  const params = await mapBreathing(rows, ({ values, origin }, index) => {
    const id = ids[index]!
    const fixed: Record<string, CellValue> = {
      created_at: origin?.createdAt ?? now,
      created_by: origin?.createdBy ?? actorId,
      nc_order: places?.[index] ?? null,
    }
    const after: Values = { [model.primaryKey.id]: id }
    const list: CellValue[] = [id]
    for (const { field, name } of plan.system) {
      const value = fixed[name] ?? null
      after[field.id] = value
      list.push(value)
    }
    for (const { field, behind } of plan.numbered) {
      const value = id - behind
      after[field.id] = value
      list.push(value)
    }
    for (const field of plan.written) {
      const value = values[field.id] ?? null
      after[field.id] = value
      list.push(value)
    }
    changes.push({ tableId: model.table.id, recordId: id, before: null, after })
    return list
  })
  await tx.runMany(plan.sql, params)
  return changes
}

/** Rejects an update of a text that someone has changed since it was read, unless it would store the same text. */
function refuseStale(
  model: TableModel,
  rows: readonly UpdatedRow[],
  stored: ReadonlyMap<string, Values>,
): void {
  for (const { id, values, expected } of rows) {
    for (const fieldId in expected) {
      const current = stored.get(String(id))?.[fieldId] ?? null
      const isSame = (value: CellValue | undefined) => (value ?? '') === (current ?? '')
      if (isSame(expected[fieldId]) || isSame(values[fieldId])) continue
      const field = model.field(fieldId)!
      const details = { tableId: model.table.id, recordId: id, fieldId, current }
      throw new AppError('CONFLICT', m.records_error_field_changed({ field: field.title }), details)
    }
  }
}

/** Restores deleted records with everything that the log has of them. */
export async function restoreRecords(
  context: WriteContext,
  rows: { id: RecordId; values: Values }[],
): Promise<RecordChange[]> {
  if (isForeign(context.model)) return restoreForeign(context, rows)
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
  for await (const { id, values } of breathing(rows)) {
    if (present.has(String(id))) continue
    const entries = Object.entries(values).flatMap(([key, value]) => {
      if (key.startsWith(RAW_PREFIX)) return [[key.slice(RAW_PREFIX.length), value] as const]
      const field = model.field(key)
      const column = field ? columnName(field) : model.trashedColumns.get(key)
      return column !== undefined && !field?.isPrimaryKey ? [[column, value] as const] : []
    })
    const key = keyValues(model, id)
    const keys = keyFieldsOf(model).map((field, index) => [columnName(field), key[index] ?? null] as const)
    const columns = new Map<string, CellValue>([...keys, ...entries])
    await batch.add(insertStatement(dialect, model, [...columns.keys()]), [...columns.values()])
    changes.push({ tableId: model.table.id, recordId: id, before: null, after: values })
  }
  await batch.flush()
  return changes
}

/**
 * Updates records. Records that already have the values stay unchanged.
 *
 * @throws RECORD_NOT_FOUND naming every id that is not there; CONFLICT where a value is not the expected one
 */
export async function updateRecords(context: WriteContext, rows: UpdatedRow[]): Promise<RecordChange[]> {
  const { tx, dialect, model, actorId, now } = context
  const fields = model.fields.filter((field) => rows.some((row) => field.id in row.values))
  const touched = stampedFields(model)
  const before = await readRecords(
    context,
    rows.map((row) => row.id),
    [...fields, ...touched],
  )
  requireAll(
    rows.map((row) => row.id),
    before,
  )
  const foreign = isForeign(model)
    ? {
        exact: await readMore(
          context,
          rows.map((row) => row.id),
          fields,
          before,
        ),
        samples: await sampleDates(context, fields),
      }
    : null
  refuseStale(model, rows, before)
  await handOver(context, rows, before)
  const changes: RecordChange[] = []
  const batch = createBatch(tx)
  const written = new Set<string>()
  for await (const { id, values } of breathing(rows)) {
    const old = before.get(String(id))!
    const changed = fields.filter((field) => field.id in values && values[field.id] !== old[field.id])
    if (changed.length === 0) continue
    if (foreign) refuseKeyChange(changed)
    const [at, by] = touched
    const after: Values = at && by ? { [at.id]: now, [by.id]: actorId } : {}
    for (const field of changed) after[field.id] = values[field.id] ?? null
    const all = [...changed, ...touched]
    const exact = foreign?.exact.get(String(id))
    if (foreign) {
      const given = { ...after, ...exactOf(values, changed) }
      const parts = all.map((field, index) => {
        const sample = exactTextOf(exact, field) ?? foreign.samples.get(field.id) ?? null
        return assigned(context, field, given, dialect.placeholder(index), sample)
      })
      const marks = parts.map(({ mark }) => mark)
      // A set writes each record once.
      if (written.has(String(id))) await batch.flush()
      written.add(String(id))
      const isPlain = parts.every(({ mark }, index) => mark === dialect.placeholder(index))
      await batch.add(
        updateStatement(dialect, model, all, marks),
        [...parts.map(({ value }) => value), ...keyValues(model, id)],
        dialect.foreign.updatesAsSet && isPlain ? (sets) => updateSet(dialect, model, all, sets) : undefined,
      )
    } else {
      const params = all.map((field) => encoded(field, dialect, after[field.id] ?? null))
      params.push(...keyValues(model, id))
      await batch.add(updateText(model, dialect, all), params)
    }
    const previous: Values = {}
    for (const field of all) previous[field.id] = old[field.id] ?? null
    changes.push({
      tableId: model.table.id,
      recordId: id,
      before: exact ? Object.assign(previous, exactOf(exact, changed)) : previous,
      after,
    })
    // A record may occur twice in one change: the second update starts from the first.
    Object.assign(old, after)
    foreign?.exact.delete(String(id))
  }
  await batch.flush()
  return foreign ? asStored(context, changes) : changes
}

/**
 * Deletes records and logs all their columns.
 *
 * @throws RECORD_NOT_FOUND naming every id that is not there
 */
export async function deleteRecords(context: WriteContext, ids: RecordId[]): Promise<RecordChange[]> {
  if (ids.length === 0) return []
  if (isForeign(context.model)) return deleteForeign(context, ids)
  const { tx, dialect, model } = context
  const keys = keyFieldsOf(model)
  const byColumn = new Map(
    model.fields
      .filter((field) => columnName(field) === field.columnName)
      .map((field) => [field.columnName, field]),
  )
  const found = new Map<string, Values>()
  for (const chunk of chunks(ids)) {
    await breathe()
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
      found.set(String(idOfKey(keys.map((field) => row[columnName(field)]))), values)
    }
  }
  requireAll(ids, found)
  await tx.runMany(
    `delete from ${dialect.quote(model.table.tableName)} where ${keyText(dialect, model)}`,
    [...new Set(ids)].map((id) => keyValues(model, id)),
  )
  return [...found].map(([id, before]) => ({
    tableId: model.table.id,
    recordId: keys.length === 1 ? ((before[model.primaryKey.id] as RecordId) ?? id) : id,
    before,
    after: null,
  }))
}

/** Moves records in the table’s own order. */
export async function moveRecords(
  context: WriteContext,
  ids: RecordId[],
  before: RecordId | null,
): Promise<RecordChange[]> {
  const order = fieldNamed(context.model, 'nc_order')
  const places = await allocatePositions(context, ids.length, before, null)
  const { tx, dialect, model } = context
  const old = await readRecords(context, ids, [order])
  requireAll(ids, old)
  await tx.runMany(
    `update ${dialect.quote(model.table.tableName)} set ${dialect.quote('nc_order')} = ${dialect.placeholder(0)}
      where ${dialect.quote(columnName(model.primaryKey))} = ${dialect.placeholder(1)}`,
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

/**
 * The system columns that writes fill: none in junction tables, whose rows are pairs of ids. Who linked two records, and
 * when, is in the log and in the stamps of both.
 */
export function systemFields(model: TableModel): Field[] {
  if (model.table.isJunction) return []
  return model.fields.filter((field) => field.isSystem && !isComputed(field))
}

export function fieldNamed(model: TableModel, column: string): Field {
  const field = model.fields.find((candidate) => candidate.isSystem && columnName(candidate) === column)
  if (!field) throw new Error(`Table ${model.table.id} has no system column ${column}`)
  return field
}

function insertStatement(dialect: Dialect, model: TableModel, columns: string[]): string {
  const marks = columns.map((_, index) => dialect.placeholder(index)).join(', ')
  return `insert into ${dialect.quote(model.table.tableName)} (${columns.map(dialect.quote).join(', ')}) values (${marks})`
}

/** @param marks an expression for each field */
function updateStatement(dialect: Dialect, model: TableModel, fields: Field[], marks: string[]): string {
  const assignments = fields.map((field, index) => `${quotedColumn(field, dialect)} = ${marks[index]}`)
  const where = keyText(dialect, model, fields.length)
  return `update ${dialect.quote(model.table.tableName)} set ${assignments.join(', ')} where ${where}`
}

/**
 * An update of many records by one statement.
 *
 * @param rows for each record the values of the fields, then those of its key
 */
function updateSet(dialect: Dialect, model: TableModel, fields: Field[], rows: CellValue[][]): Statement {
  const keys = keyFieldsOf(model).map((field) => quotedColumn(field, dialect))
  const params: CellValue[] = []
  const mark = (value: CellValue): string => {
    params.push(value)
    return dialect.placeholder(params.length - 1)
  }
  const isRecord = (row: CellValue[]) =>
    keys.map((key, at) => `${key} = ${mark(row[fields.length + at] ?? null)}`).join(' and ')
  const assignments = fields.map((field, at) => {
    const cases = rows.map((row) => `when ${isRecord(row)} then ${mark(row[at] ?? null)}`)
    return `${quotedColumn(field, dialect)} = case ${cases.join(' ')} end`
  })
  const where = rows.map((row) => `(${isRecord(row)})`).join(' or ')
  const sql = `update ${dialect.quote(model.table.tableName)} set ${assignments.join(', ')} where ${where}`
  return { sql, params }
}

const updateTexts = perDialect(
  (_model: TableModel, _dialect: Dialect) => new LRUCache<string, string>({ max: 100 }),
)

/** The statement that sets bound values, composed once for each set of fields. */
function updateText(model: TableModel, dialect: Dialect, fields: Field[]): string {
  const texts = updateTexts(model, dialect)
  const shape = fields.map(({ id }) => id).join()
  const known = texts.get(shape)
  if (known !== undefined) return known
  const marks = fields.map((_, index) => dialect.placeholder(index))
  const text = updateStatement(dialect, model, fields, marks)
  texts.set(shape, text)
  return text
}

/** Updates that one statement writes: each row is compared with all of them. */
const SET_ROWS = 100

/**
 * Runs statements in order, consecutive ones with the same text as one list: it is prepared once, and a long list
 * yields to other work. `asSet` writes some of the list by one statement.
 */
function createBatch(tx: Transaction) {
  let text = ''
  let rows: CellValue[][] = []
  let toSet: ((rows: CellValue[][]) => Statement) | undefined
  const flush = async () => {
    const list = rows
    rows = []
    if (toSet && list.length > 1) {
      for (let at = 0; at < list.length; at += SET_ROWS) await tx.run(toSet(list.slice(at, at + SET_ROWS)))
    } else if (list.length > 0) {
      await tx.runMany(text, list)
    }
  }
  return {
    flush,
    async add(
      sqlText: string,
      params: CellValue[],
      asSet?: (rows: CellValue[][]) => Statement,
    ): Promise<void> {
      if (sqlText !== text) await flush()
      text = sqlText
      toSet = asSet
      rows.push(params)
    },
  }
}

interface Row {
  id: RecordId
  values: Values
}

/**
 * Lets records exchange values of unique fields in one change, such as two swapped cells: the database checks row by
 * row and would find duplicates on the way. Clears the values that another record takes over; all of them are written
 * right after.
 *
 * @param before the current values, by id as text
 */
async function handOver(
  context: WriteContext,
  rows: Row[],
  before: ReadonlyMap<string, Values>,
): Promise<void> {
  const { tx, dialect, model } = context
  if (rows.length < 2 || !isOurs(model)) return
  for (const field of model.fields.filter(({ unique }) => unique)) {
    for (const chunk of chunks(handingOver(field, rows, before))) {
      const column: SQL = sql`${sql.identifier(columnName(field))}`
      await tx.run(
        dialect.render(sql`update ${sql.identifier(model.table.tableName)} set ${column} = null
          where ${idIn(model, chunk)}`),
      )
    }
  }
}

/** Records that get another value of a field while another record takes over theirs. */
function handingOver({ id: fieldId }: Field, rows: Row[], before: ReadonlyMap<string, Values>): RecordId[] {
  const takers = new Map<string, RecordId>()
  for (const { id, values } of rows) {
    const value = values[fieldId] ?? null
    if (value !== null) takers.set(String(value), id)
  }
  const givers = rows.filter(({ id, values }) => {
    const held = before.get(String(id))?.[fieldId] ?? null
    if (held === null || !(fieldId in values) || values[fieldId] === held) return false
    const taker = takers.get(String(held))
    return taker !== undefined && String(taker) !== String(id)
  })
  return [...new Set(givers.map(({ id }) => id))]
}
