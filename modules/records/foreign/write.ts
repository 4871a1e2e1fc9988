import type { Operation, RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import {
  chunks,
  columnName,
  decoderOf,
  idOfKey,
  isForeign,
  isInsertable,
  keyFieldsOf,
  keyOf,
  keyText,
  perModel,
  readRecords,
  type WriteContext,
} from '../table/index.ts'
import { encodedLike, sampleDates } from './rows.ts'

/** Fields that a new record may have values for. */
const insertable = perModel((model) => model.fields.filter((field) => isInsertable(field)))

/**
 * Inserts records one by one, because the database generates keys and defaults and runs its triggers. They are read
 * back, so that the log has the stored values.
 *
 * @throws REQUIRED_FIELD_MISSING for a key that the database does not give
 */
export async function insertForeign(
  context: WriteContext,
  { rows }: Extract<Operation, { kind: 'insert' }>,
): Promise<RecordChange[]> {
  const { model } = context
  const ids: RecordId[] = []
  const given = insertable(model).filter((field) => rows.some(({ values }) => field.id in values))
  const samples = await sampleDates(context, given)
  for (const { values } of rows) ids.push(await insertOne(context, values, samples))
  const fields = model.fields.filter((field) => field.columnName !== '')
  const changes: RecordChange[] = []
  for (const chunk of chunks(ids)) {
    const stored = await readRecords(context, chunk, fields)
    for (const recordId of chunk) {
      const after = stored.get(String(recordId)) ?? {}
      changes.push({ tableId: model.table.id, recordId, before: null, after })
    }
  }
  return changes
}

async function insertOne(
  context: WriteContext,
  asked: Values,
  samples: ReadonlyMap<string, string>,
): Promise<RecordId> {
  const { tx, dialect, model } = context
  const values = withMadeKeys(model, asked)
  // Omitted values are left to the database: an explicit null would prevent its default.
  const given = insertable(model).filter((field) => (values[field.id] ?? null) !== null)
  const asWritten = (field: Field) =>
    encodedLike(field, dialect, values[field.id] ?? null, samples.get(field.id) ?? null)
  const table = dialect.quote(model.table.tableName)
  const columns = given.map((field) => dialect.quote(columnName(field)))
  const marks = given.map((_, index) => dialect.placeholder(index))
  const statement = {
    sql: columns.length
      ? `insert into ${table} (${columns.join(', ')}) values (${marks.join(', ')})`
      : dialect.insertDefaults(model.table.tableName),
    params: given.map(asWritten),
  }
  const missing = keyFieldsOf(model).filter((field) => !given.includes(field))
  const [own] = missing
  if (!own) await tx.run(statement)
  else if (missing.length > 1) throw missingKey(missing[1] ?? own)
  const made = own ? await tx.insertOne(statement, columnName(own)) : null
  if (own && made === null) throw missingKey(own)
  const key = keyFieldsOf(model).map((field) =>
    field === own ? (decoderOf(field, dialect)?.(made) ?? made) : asWritten(field),
  )
  return isKeptAsGiven(model) ? idOfKey(key) : readId(context, key)
}

/** True for keys of numbers and plain text; the database may reformat others, e.g. times. */
const isKeptAsGiven = perModel((model) =>
  keyFieldsOf(model).every(
    (field) =>
      ['id', 'integer'].includes(storageOf(field)) ||
      /^(character varying|varchar|text)/.test(field.databaseType ?? ''),
  ),
)

/** The id of the record with the key, as its database prints it. */
async function readId({ tx, dialect, model }: WriteContext, key: readonly unknown[]): Promise<RecordId> {
  const { sql: id } = dialect.render(keyOf(model))
  const table = dialect.quote(model.table.tableName)
  const statement = `select ${id} as id from ${table} where ${keyText(dialect, model)}`
  const [row] = await tx.all<{ id: RecordId }>({ sql: statement, params: [...key] })
  return row?.id ?? idOfKey(key)
}

/** Generates UUID keys here, as not every database returns the ones it generates. */
function withMadeKeys(model: TableModel, values: Values): Values {
  const made = keyFieldsOf(model).filter((field) => isUuid(field) && (values[field.id] ?? null) === null)
  if (made.length === 0) return values
  return { ...values, ...Object.fromEntries(made.map((field) => [field.id, crypto.randomUUID()])) }
}

/** Also matches 36-letter text columns that the database fills in. */
const isUuid = ({ databaseType, required }: Field): boolean =>
  databaseType === 'uuid' || (!required && /^(var)?char\(36\)$/.test(databaseType ?? ''))

const missingKey = (field: Field): AppError =>
  new AppError('REQUIRED_FIELD_MISSING', m.records_error_key_required({ field: field.title }), {
    fieldId: field.id,
    field: field.title,
  })

/** @throws BAD_REQUEST for changes of a primary key, which other records may refer to */
export function refuseKeyChange(changed: Field[]): void {
  const key = changed.find((field) => field.isPrimaryKey && !fieldType(field.type).computed)
  if (key) throw new AppError('BAD_REQUEST', m.records_error_key_change({ field: key.title }))
}

/**
 * The connected database of all tables of a change; null for tables of the base’s home.
 *
 * @throws FORBIDDEN saying why records may not be written; BAD_REQUEST for tables of several databases, which no
 *   transaction holds together
 */
export async function foreignEngineOf(
  schema: Pick<SchemaReader, 'load' | 'engineOf' | 'writeRefusal'>,
  tableIds: readonly string[],
): Promise<Engine | null> {
  const models = await Promise.all([...new Set(tableIds)].map((id) => schema.load(id)))
  if (!models.some(isForeign)) return null
  for (const model of models) {
    const refusal = await schema.writeRefusal(model)
    if (refusal) throw new AppError('FORBIDDEN', refusal)
  }
  const sources = new Set(models.map(({ table }) => table.sourceId))
  const [first] = models
  if (!first || sources.size > 1) throw badRequest(m.records_error_several_databases())
  return schema.engineOf(first.table)
}
