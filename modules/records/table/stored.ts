import { sql } from 'drizzle-orm'
import { breathe } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isPasswordHash, PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { exactNumber } from '../../../src/dialects/exact-number.ts'
import { isTemporal } from '../../../src/dialects/foreign.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, decoderOf, perModel } from './columns.ts'
import { idIn, keyFieldsOf, keyOf } from './record-key.ts'
import type { WriteContext } from './validate.ts'

/** Values that one statement binds at most, well below every engine's limit. */
const CHUNK = 500

/** Where the records of a table are read: inside a transaction, or before one begins. */
type StoredIn = Pick<WriteContext, 'dialect' | 'model'> & { tx: Pick<Transaction, 'all'> }

/** The given fields of records, by id as text; what is not there is absent. */
export async function readRecords(
  context: StoredIn,
  ids: RecordId[],
  fields: Field[],
): Promise<Map<string, Values>> {
  const { tx, dialect, model } = context
  const found = new Map<string, Values>()
  const decoders = fields.map((field) => decoderOf(field, dialect))
  const keys = keyFieldsOf(model)
  const keyColumns =
    keys.length > 1
      ? [`${dialect.render(keyOf(model)).sql} as k0`]
      : keys.map((field) => `${keyText(field, dialect)} as k0`)
  const columns = fields.map((field, index) => `, ${storedText(field, dialect)} as f${index + 1}`)
  const from = `select ${keyColumns.join(', ')}${columns.join('')} from ${dialect.quote(model.table.tableName)}`
  for (const chunk of chunks(ids)) {
    await breathe()
    const where = dialect.render(idIn(model, chunk))
    const rows = await tx.all<Record<string, CellValue>>({
      sql: `${from} where ${where.sql}`,
      params: where.params,
    })
    for (const row of rows) {
      const values: Values = {}
      fields.forEach((field, index) => {
        const value = row[`f${index + 1}`] ?? null
        const cell = decoders[index]?.(value) ?? value
        // Digits are text in a text field: read as a number, undo would take the value for one that someone changed.
        values[field.id] =
          isTextStorage(storageOf(field)) && typeof cell === 'string' ? cell : exactNumber(cell)
      })
      found.set(String(row.k0), values)
    }
  }
  return found
}

/** A column as text of SQL; one that is not ours as it is shown. */
function storedText(field: Field, dialect: Dialect): string {
  const storage = storageOf(field)
  if (field.databaseType === null || !isTemporal(storage)) return keyText(field, dialect)
  const name = sql.raw(dialect.quote(columnName(field)))
  return dialect.render(dialect.foreign.asTemporal(name, storage, field.databaseType)).sql
}

/** The column of a key: ids have dates as they are stored, so that records are found by them. */
function keyText(field: Field, dialect: Dialect): string {
  const name = dialect.quote(columnName(field))
  if (field.databaseType === null || !isTextStorage(storageOf(field))) return name
  return dialect.render(dialect.foreign.asText(sql.raw(name), field.databaseType)).sql
}

/** Lists short enough for one statement. */
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

/** Records that a refusal names; of more it says how many. */
const MAX_NAMED = 100

/** @param names what each of the ids is called in the message */
export function recordsNotFound(
  ids: RecordId[],
  names: string[],
  details: Record<string, unknown>,
): AppError {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  const message = `Record${ids.length === 1 ? '' : 's'} ${names.slice(0, MAX_NAMED).join(', ')}${more} not found`
  return new AppError('RECORD_NOT_FOUND', message, { recordIds: ids.slice(0, MAX_NAMED), ...details })
}

/** Ids of the password fields of a table; most have none. */
const passwordFields = perModel((model) => model.fields.filter(isSecret).map(({ id }) => id))

/** Values as people may see them: of a password, that there is one. */
export function maskValues(model: TableModel, values: Values): Values {
  const secret = passwordFields(model).filter((id) => values[id] != null)
  if (secret.length === 0) return values
  return { ...values, ...Object.fromEntries(secret.map((id) => [id, PASSWORD_MASK])) }
}

/** Changes of records as they are told to browsers: the log keeps fingerprints, which are nobody's to see. */
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

/** Of a change that was sent again the log alone is at hand: what looks like a fingerprint is one. */
const maskHashes = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([id, value]) => [id, isPasswordHash(value ?? null) ? PASSWORD_MASK : value]),
  )
