import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { breathe } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isPasswordHash, PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { selectInsertedIds } from '../../../src/db/change-log/sets.ts'
import type { Dialect, QueryDialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import { exactNumber } from '../../../src/dialects/exact-number.ts'
import { isTemporal } from '../../../src/dialects/foreign.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  columnName,
  columnOf,
  decoderOf,
  idIn,
  idInText,
  keyFieldsOf,
  keyOf,
  perDialect,
  perModel,
  quotedColumn,
  storedId,
} from './columns.ts'
import type { WriteContext } from './validate.ts'

/** Values per statement, well below every engine’s limit. */
const CHUNK = 500

/** The database to read from: a transaction, or an engine. */
type StoredIn = Pick<WriteContext, 'dialect' | 'model'> & { tx: Pick<Transaction, 'all'> }

/** The given fields of records, by id as text; missing records are absent. */
export async function readRecords(
  { tx, dialect, model }: StoredIn,
  ids: RecordId[],
  fields: Field[],
): Promise<Map<string, Values>> {
  const found = new Map<string, Values>()
  const stored = fields.map((field) => storedColumn(field, dialect))
  for (const chunk of chunks(ids)) {
    const pause = breathe()
    if (pause) await pause
    const rows = await tx.all<Record<string, CellValue>>(selectStored(model, dialect, fields, chunk))
    for (const row of rows) {
      const values: Values = {}
      fields.forEach((field, index) => {
        values[field.id] = stored[index]!.read(row[`f${index + 1}`] ?? null)
      })
      found.set(String(row.k0), values)
    }
  }
  return found
}

/** A record and some of its fields, as `readRecords` reads them. */
export interface StoredRecord {
  id: RecordId
  values: Values
}

/**
 * The given fields of the records that meet a condition.
 *
 * @param where also the order and limit
 */
export async function readWhere(
  { tx, dialect, model }: StoredIn,
  where: SQL,
  fields: Field[],
): Promise<StoredRecord[]> {
  const stored = fields.map((field) => storedColumn(field, dialect))
  const columns = stored.map(({ selected }, index) => `, ${selected} as f${index + 1}`).join('')
  const rows = await tx.all<Record<string, CellValue>>(
    dialect.render(sql`select ${keyOf(model)} as k0${sql.raw(columns)}
      from ${sql.identifier(model.table.tableName)} where ${where}`),
  )
  return rows.map((row) => {
    const values: Values = {}
    fields.forEach((field, index) => {
      values[field.id] = stored[index]!.read(row[`f${index + 1}`] ?? null)
    })
    return { id: storedId(model, row.k0 as RecordId), values }
  })
}

/** The texts of `selectStored` by fields and number of ids: composing one takes longer than a short read. */
const selectTexts = perDialect(
  (_model: TableModel, _dialect: Dialect) => new LRUCache<string, string>({ max: 100 }),
)

/** Selects the records' ids as `k0` and their fields as `f1`, `f2`, … */
function selectStored(model: TableModel, dialect: Dialect, fields: Field[], ids: RecordId[]): Statement {
  const select = (key: string) => {
    const columns = fields.map(
      (field, index) => `, ${storedColumn(field, dialect).selected} as f${index + 1}`,
    )
    return `select ${key} as k0${columns.join('')} from ${dialect.quote(model.table.tableName)} where`
  }
  const [key, ...others] = keyFieldsOf(model)
  if (!key || others.length > 0) {
    const where = dialect.render(idIn(model, ids))
    return { sql: `${select(dialect.render(keyOf(model)).sql)} ${where.sql}`, params: where.params }
  }
  const texts = selectTexts(model, dialect)
  const shape = fields.reduce((text, { id }) => `${text} ${id}`, String(ids.length))
  const known = texts.get(shape)
  if (known !== undefined) return { sql: known, params: ids }
  const sql = `${select(keyText(key, dialect))} ${idInText(dialect, model, ids).sql}`
  texts.set(shape, sql)
  return { sql, params: ids }
}

/** The column of a field for a select list, and its values as they are stored. */
const storedColumn = perDialect((field: Field, dialect) => {
  const decode = decoderOf(field, dialect)
  const isText = isTextStorage(storageOf(field))
  return {
    selected: storedText(field, dialect),
    read(value: CellValue): CellValue {
      const cell = decode?.(value) ?? value
      // Digits in a text field stay text: as numbers, undo would take the value for a changed one.
      return isText && typeof cell === 'string' ? cell : exactNumber(cell)
    },
  }
})

/** A column for a select list; columns of connected databases are converted as they are shown. */
function storedText(field: Field, dialect: Dialect): string {
  const storage = storageOf(field)
  if (field.databaseType === null || !isTemporal(storage)) return keyText(field, dialect)
  const name = sql.raw(dialect.quote(columnName(field)))
  return dialect.render(dialect.foreign.asTemporal(name, storage, field.databaseType)).sql
}

/** The column of a key; ids have dates as they are stored, so that records are found by them. */
function keyText(field: Field, dialect: Dialect): string {
  const name = quotedColumn(field, dialect)
  if (field.databaseType === null || !isTextStorage(storageOf(field))) return name
  return dialect.render(dialect.foreign.asText(sql.raw(name), field.databaseType)).sql
}

/** Splits a list into chunks for one statement each. */
export function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += CHUNK) yield items.slice(start, start + CHUNK)
}

/** @throws RECORD_NOT_FOUND naming the ids that were not found, the first hundred of them */
export function requireAll(ids: RecordId[], found: Map<string, unknown>): void {
  const gone = ids.filter((id) => !found.has(String(id)))
  if (gone.length === 0) return
  throw recordsNotFound(
    gone,
    gone.map((id) => `'${id}'`),
    {},
  )
}

/** Limit of record ids in an error message. */
const MAX_NAMED = 100

/** @param names the ids as the message names them */
export function recordsNotFound(
  ids: RecordId[],
  names: string[],
  details: Record<string, unknown>,
): AppError {
  const named = names.slice(0, MAX_NAMED).join(', ')
  const more = ids.length - MAX_NAMED
  const message =
    more > 0
      ? m.wire_error_records_not_found_and_more({ records: named, more })
      : m.wire_error_records_not_found({ count: ids.length, records: named })
  return new AppError('RECORD_NOT_FOUND', message, { recordIds: ids.slice(0, MAX_NAMED), ...details })
}

/** Ids of a table’s password fields; most have none. */
const passwordFields = perModel((model) => model.fields.filter(isSecret).map(({ id }) => id))

/** Values with passwords masked. */
export function maskValues(model: TableModel, values: Values): Values {
  const secret = passwordFields(model).filter((id) => values[id] != null)
  if (secret.length === 0) return values
  return { ...values, ...Object.fromEntries(secret.map((id) => [id, PASSWORD_MASK])) }
}

/** Changes of records for browsers: the log has password hashes, which must not leave the server. */
export function maskChanges(
  records: RecordChange[],
  modelOf: (tableId: string) => TableModel | undefined,
): RecordChange[] {
  return records.map((record) => {
    const model = modelOf(record.tableId)
    if (model && passwordFields(model).length === 0) return record
    const { before, after } = record
    const mask = (values: Values) => (model ? maskValues(model, values) : maskHashes(values))
    return { ...record, before: before && mask(before), after: after && mask(after) }
  })
}

/** For a repeated change only the log is available: mask everything that looks like a hash. */
const maskHashes = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([id, value]) => [id, isPasswordHash(value ?? null) ? PASSWORD_MASK : value]),
  )

/** The range of ids that one change added, as the log keeps it for a large one. */
export interface AddedRange {
  tableId: string
  from: number
  to: number
}

/** The range in the detail of an entry, or null if it lists its records. */
export function rangeOf(entry: Pick<StoredEntry, 'detail' | 'tableId'>): AddedRange | null {
  const detail = entry.detail as Partial<AddedRange> | null
  const tableId = detail?.tableId ?? entry.tableId
  if (typeof detail?.from !== 'number' || typeof detail.to !== 'number' || !tableId) return null
  return { tableId, from: detail.from, to: detail.to }
}

export function rangeCondition(model: TableModel, range: AddedRange): SQL {
  return sql`where ${columnOf(model.primaryKey)} between ${range.from} and ${range.to}`
}

/**
 * Condition for the ids in a table that numbers its records. As literals, because there may be more than a statement
 * can bind.
 */
export function idsCondition(model: TableModel, ids: readonly RecordId[]): SQL {
  const numbers = ids.filter((id) => Number.isSafeInteger(id))
  if (numbers.length < ids.length) throw new Error(`Ids of table ${model.table.id} are not numbers`)
  return sql`where ${columnOf(model.primaryKey)} in (${sql.raw(numbers.join(', '))})`
}

/** Condition for the records that a change has restored. */
export function restoredBy(model: TableModel, dialect: QueryDialect, changeId: number): SQL {
  return sql`where ${dialect.logId(columnOf(model.primaryKey))} in (${selectInsertedIds(changeId, model.table.id)})`
}
