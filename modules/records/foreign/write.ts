import type { Operation, RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
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
 * Inserts records, a statement for up to 500 of them. The database generates keys and defaults and runs its triggers, so
 * they are read back: the log has the stored values.
 *
 * @throws REQUIRED_FIELD_MISSING for a key that the database does not give; DATABASE_ERROR if a trigger leaves records out
 */
export async function insertForeign(
  context: WriteContext,
  { rows }: Extract<Operation, { kind: 'insert' }>,
): Promise<RecordChange[]> {
  const { model } = context
  const ids: RecordId[] = []
  const given = insertable(model).filter((field) => rows.some(({ values }) => field.id in values))
  const samples = await sampleDates(context, given)
  for (const batch of batchesOf(context, rows)) {
    for (const id of await insertBatch(context, batch, samples)) ids.push(id)
  }
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

/** Limits of one insert. MySQL refuses statements above `max_allowed_packet`, 16 MB by default. */
const BATCH_ROWS = 500
const BATCH_CHARACTERS = 1_000_000

/** Consecutive records that one statement inserts. */
interface Batch {
  /** The fields with a value in any of them. */
  fields: Field[]
  rows: Values[]
}

/**
 * Groups consecutive records that give the same columns of the key. Other columns may differ where a statement can name
 * their default.
 */
function* batchesOf({ dialect, model }: WriteContext, rows: { values: Values }[]): Generator<Batch> {
  const mayDiffer = dialect.foreign.defaultMark !== null
  const keys = new Set(keyFieldsOf(model))
  let batch: Batch | null = null
  let shape = ''
  let characters = 0
  for (const { values: asked } of rows) {
    const values = withMadeKeys(model, asked)
    // Omitted values are left to the database: an explicit null would prevent its default.
    const fields = insertable(model).filter((field) => (values[field.id] ?? null) !== null)
    const own = fields.flatMap((field) => (!mayDiffer || keys.has(field) ? field.id : [])).join()
    const size = fields.reduce((sum, { id }) => sum + textLength(values[id] ?? null), 0)
    const all: Field[] = batch && own === shape ? union(batch.fields, fields) : fields
    const isFull =
      batch !== null &&
      (batch.rows.length >= BATCH_ROWS ||
        characters + size > BATCH_CHARACTERS ||
        (batch.rows.length + 1) * all.length > dialect.maxBoundParameters)
    // Not every engine inserts several rows without any value.
    if (batch && (own !== shape || isFull || all.length === 0)) {
      yield batch
      batch = null
    }
    if (batch) {
      batch.rows.push(values)
      batch.fields = all
    } else {
      batch = { fields, rows: [values] }
      characters = 0
    }
    characters += size
    shape = own
  }
  if (batch) yield batch
}

const textLength = (value: CellValue): number => (typeof value === 'string' ? value.length : 8)

const union = (fields: Field[], more: Field[]): Field[] =>
  more.every((field) => fields.includes(field)) ? fields : [...new Set([...fields, ...more])]

async function insertBatch(
  context: WriteContext,
  { fields, rows }: Batch,
  samples: ReadonlyMap<string, string>,
): Promise<RecordId[]> {
  const { tx, dialect, model } = context
  const asWritten = (field: Field, values: Values) =>
    encodedLike(field, dialect, values[field.id] ?? null, samples.get(field.id) ?? null)
  const keyFields = keyFieldsOf(model)
  const [own, second] = keyFields.filter((field) => !fields.includes(field))
  if (second) throw missingKey(second)
  const statement = insertStatement(context, { fields, rows }, asWritten)
  let generated: unknown[] = []
  if (!own) await tx.run(statement)
  else if (rows.length === 1) generated = [(await tx.insertOne(statement, columnName(own))) ?? null]
  else generated = await tx.insertMany(statement, columnName(own), rows.length)
  if (own && rows.length > 1 && generated.length < rows.length) {
    if (generated.length === 0) throw missingKey(own)
    throw new AppError(
      'DATABASE_ERROR',
      m.records_error_rows_left_out({ count: rows.length - generated.length, table: model.table.title }),
    )
  }
  const decode = own ? decoderOf(own, dialect) : null
  const ids: RecordId[] = []
  for (const [index, values] of rows.entries()) {
    const made = generated[index] ?? null
    if (own && made === null) throw missingKey(own)
    const key = keyFields.map((field) =>
      field === own ? (decode?.(made) ?? made) : asWritten(field, values),
    )
    ids.push(isKeptAsGiven(model) ? idOfKey(key) : await readId(context, key))
  }
  return ids
}

function insertStatement(
  { dialect, model }: WriteContext,
  { fields, rows }: Batch,
  asWritten: (field: Field, values: Values) => CellValue,
): Statement {
  if (fields.length === 0 && rows.length === 1)
    return { sql: dialect.insertDefaults(model.table.tableName), params: [] }
  const table = dialect.quote(model.table.tableName)
  const params: CellValue[] = []
  const mark = (field: Field, values: Values): string => {
    if ((values[field.id] ?? null) === null) return dialect.foreign.defaultMark ?? 'null'
    params.push(asWritten(field, values))
    return dialect.placeholder(params.length - 1)
  }
  const lists = rows.map((values) => `(${fields.map((field) => mark(field, values)).join(', ')})`)
  const columns = fields.map((field) => dialect.quote(columnName(field))).join(', ')
  return { sql: `insert into ${table} (${columns}) values ${lists.join(', ')}`, params }
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
