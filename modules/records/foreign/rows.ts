import { type SQL, sql } from 'drizzle-orm'
import { breathe, breathing, forEachBreathing, mapBreathing } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue, StorageKind } from '../../../src/core/fields/field-type.ts'
import { hasMultipleChoices } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { GENERATED } from '../../../src/db/introspect/index.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { isTemporal } from '../../../src/dialects/foreign.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  chunks,
  columnName,
  encoded,
  idIn,
  isForeign,
  keyFieldsOf,
  keyOf,
  keyText,
  keyValues,
  perModel,
  readRecords,
  requireAll,
  type WriteContext,
} from '../table/index.ts'

/**
 * Prefix of exact values in the log. Columns of connected databases may hold more than a cell represents:
 * microseconds, bytes, geometry. For a deleted record the log keeps each column’s exact text under this prefix and
 * the column’s name, and restores it from there.
 */
const EXACT = '='

/**
 * Fields whose columns may hold values that a cell cannot represent or write: microseconds, `NaN`, MySQL’s zero
 * dates, numbers of eight bytes, MySQL’s booleans other than 0 and 1, its empty sets.
 */
const mayHoldMore = perModel((model) =>
  model.fields.filter(
    (field) =>
      field.columnName !== '' &&
      field.databaseType !== null &&
      (['datetime', 'date', 'time', 'real', 'integer', 'boolean'].includes(storageOf(field)) ||
        hasMultipleChoices(field)),
  ),
)

interface Column {
  name: string
  type: string
}

/**
 * Deletes records and logs all their columns.
 *
 * @throws RECORD_NOT_FOUND naming every id that is not there
 */
export async function deleteForeign(context: WriteContext, ids: RecordId[]): Promise<RecordChange[]> {
  const { tx, dialect, model } = context
  const cells = await readRecords(context, ids, storedFields(model))
  requireAll(ids, cells)
  const columns = await tx.all<Column>(dialect.listColumns(model.table.tableName))
  const exact = await readExact(context, ids, columns)
  const { tableName, id: tableId } = model.table
  await tx.runMany(
    `delete from ${dialect.quote(tableName)} where ${keyText(dialect, model)}`,
    await mapBreathing([...new Set(ids)], (id) => keyValues(model, id)),
  )
  return mapBreathing([...new Set(ids)], (recordId) => {
    const before = { ...cells.get(String(recordId)), ...exact.get(String(recordId)) }
    return { tableId, recordId, before, after: null }
  })
}

/**
 * The exact texts of the values of records that are about to be changed, where they hold more than their cells
 * represent.
 *
 * @param before the cells by record
 */
export async function readMore(
  context: WriteContext,
  ids: RecordId[],
  fields: Field[],
  before: ReadonlyMap<string, Values>,
): Promise<Map<string, Values>> {
  const wanted = mayHoldMore(context.model).filter((field) => fields.includes(field))
  if (wanted.length === 0) return new Map()
  const exact = await readExactTexts(context, ids, wanted)
  await forEachBreathing(exact, ([id, texts]) => {
    for (const field of wanted) {
      const key = EXACT + columnName(field)
      if (!saysMore(field, before.get(id)?.[field.id] ?? null, texts[key] ?? null)) delete texts[key]
    }
  })
  return exact
}

/** The exact texts among logged values that belong to the fields. */
export const exactOf = (values: Values, fields: Field[]): Values =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const key = EXACT + columnName(field)
      return field.databaseType !== null && key in values ? [[key, values[key] ?? null]] : []
    }),
  )

/** The placeholder and bound value for an assignment to a field’s column. */
export function assigned(
  { dialect }: WriteContext,
  field: Field,
  values: Values,
  placeholder: string,
  sample: string | null = null,
): { mark: string; value: CellValue } {
  const exact = values[EXACT + columnName(field)]
  return exact === undefined || field.databaseType === null
    ? { mark: placeholder, value: encodedLike(field, dialect, values[field.id] ?? null, sample) }
    : { mark: dialect.foreign.fromExactText(placeholder, field.databaseType), value: exact }
}

/** Encodes a value for the driver; dates follow a sample if the column’s type does not define their format. */
export function encodedLike(
  field: Field,
  dialect: Dialect,
  value: CellValue,
  sample: string | null,
): CellValue {
  const storage = storageOf(field)
  const { temporalValue } = dialect.foreign
  return field.databaseType !== null && temporalValue !== null && isTemporal(storage)
    ? temporalValue(value, storage, sample)
    : encoded(field, dialect, value)
}

/** Rows to search for a sample value; a column that is empty in all of them has no format of its own. */
const SAMPLED_ROWS = 1000

/** A sample value, as exact text, of each field whose column has no type for dates. Empty columns are absent. */
export async function sampleDates(
  { tx, dialect, model }: WriteContext,
  fields: Field[],
): Promise<Map<string, string>> {
  const samples = new Map<string, string>()
  if (dialect.foreign.temporalValue === null || !isForeign(model)) return samples
  for (const field of fields) {
    if (field.databaseType === null || !isTemporal(storageOf(field))) continue
    const column = sql`${sql.identifier(columnName(field))}`
    const rows = sql`select ${column} from ${sql.identifier(model.table.tableName)} limit ${sql.raw(String(SAMPLED_ROWS))}`
    const [row] = await tx.all<{ sample: string }>(
      dialect.render(sql`select ${dialect.foreign.exactText(column, field.databaseType)} as sample
        from (${rows}) as sampled where ${column} is not null and ${column} <> '' limit 1`),
    )
    if (row) samples.set(field.id, row.sample)
  }
  return samples
}

/** The exact text that the log has of a field’s old value, if any. */
export const exactTextOf = (values: Values | undefined, field: Field): string | null => {
  const text = values?.[EXACT + columnName(field)]
  return typeof text === 'string' ? text : null
}

/** Values that a cell represents exactly: a day, a time, an instant, a boolean. */
const PLAIN: Partial<Record<StorageKind, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,6})?$/,
  datetime: /^\d{4}-\d\d-\d\d ([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,6})?(\+00)?$/,
  boolean: /^([01]|true|false)$/,
}

function saysMore(field: Field, cell: CellValue, text: CellValue): boolean {
  if (text === null || Number.isFinite(cell)) return false
  if (cell === null) return true
  return hasMultipleChoices(field) ? text === '' : !PLAIN[storageOf(field)]?.test(String(text))
}

/** The exact texts of fields with a column, by record. */
export const readExactTexts = (
  context: WriteContext,
  ids: RecordId[],
  fields: Field[],
): Promise<Map<string, Values>> =>
  readExact(
    context,
    ids,
    fields.map((field) => ({ name: columnName(field), type: field.databaseType ?? '' })),
  )

/** Columns as text that their engine reads back as the same value. */
async function readExact(
  { tx, dialect, model }: WriteContext,
  ids: RecordId[],
  columns: Column[],
): Promise<Map<string, Values>> {
  const texts = columns.map(({ name, type }): SQL => {
    const column = sql`${sql.identifier(name)}`
    return sql`${dialect.foreign.exactText(column, type)} as ${sql.identifier(EXACT + name)}`
  })
  const found = new Map<string, Values>()
  for (const chunk of chunks(ids)) {
    await breathe()
    const rows = await tx.all<Values>(
      dialect.render(sql`select ${keyOf(model)} as ${sql.identifier('key')}, ${sql.join(texts, sql`, `)}
        from ${sql.identifier(model.table.tableName)} where ${idIn(model, chunk)}`),
    )
    for (const { key, ...values } of rows) found.set(String(key), values)
  }
  return found
}

/** Restores deleted records under their former keys; existing ones stay. */
export async function restoreForeign(
  context: WriteContext,
  rows: { id: RecordId; values: Values }[],
): Promise<RecordChange[]> {
  const { tx, dialect, model } = context
  const ids = rows.map(({ id }) => id)
  const present = await readRecords(context, ids, [])
  const columns = await tx.all<Column>(dialect.listColumns(model.table.tableName))
  const generated = new Set(
    model.fields.filter(({ readOnlyReason }) => readOnlyReason === GENERATED).map(columnName),
  )
  const samples = await sampleDates(context, storedFields(model))
  const changes: RecordChange[] = []
  for await (const { id, values } of breathing(rows)) {
    if (present.has(String(id))) continue
    const own = { ...plainValues(context, values, samples), ...keyByColumn(model, id) }
    const given = columns.filter(
      ({ name }) => !generated.has(name) && (EXACT + name in values || name in own),
    )
    const marks = given.map(({ name, type }, index) =>
      EXACT + name in values
        ? dialect.foreign.fromExactText(dialect.placeholder(index), type)
        : dialect.placeholder(index),
    )
    await tx.run({
      sql: `insert into ${dialect.quote(model.table.tableName)} (${given.map(({ name }) => dialect.quote(name)).join(', ')})
        ${dialect.foreign.overriding} values (${marks.join(', ')})`,
      params: given.map(({ name }) => values[EXACT + name] ?? own[name] ?? null),
    })
    changes.push({ tableId: model.table.id, recordId: id, before: null, after: values })
  }
  return changes
}

/** The values of an undone insert by column: it has no exact texts. */
function plainValues(
  { model, dialect }: WriteContext,
  values: Values,
  samples: ReadonlyMap<string, string>,
): Record<string, CellValue> {
  const fields = storedFields(model).filter((field) => field.id in values)
  return Object.fromEntries(
    fields.map((field) => [
      columnName(field),
      encodedLike(field, dialect, values[field.id] ?? null, samples.get(field.id) ?? null),
    ]),
  )
}

function keyByColumn(model: TableModel, id: RecordId): Record<string, CellValue> {
  const values = keyValues(model, id)
  return Object.fromEntries(
    keyFieldsOf(model).map((field, index) => [columnName(field), values[index] ?? null]),
  )
}

/** Replaces the values of changes by those stored now: the database may have rounded, truncated or filled them in. */
export async function asStored(context: WriteContext, changes: RecordChange[]): Promise<RecordChange[]> {
  const { model } = context
  const fields = storedFields(model).filter((field) =>
    changes.some(({ after }) => after !== null && field.id in after),
  )
  const ids = [...new Set(changes.map(({ recordId }) => recordId))]
  const stored = await readRecords(context, ids, fields)
  return mapBreathing(changes, (change) => {
    const now = stored.get(String(change.recordId))
    const own = Object.keys(change.after ?? {}).filter((fieldId) => now !== undefined && fieldId in now)
    return now && change.after
      ? {
          ...change,
          after: { ...change.after, ...Object.fromEntries(own.map((id) => [id, now[id] ?? null])) },
        }
      : change
  })
}

const storedFields = (model: TableModel): Field[] => model.fields.filter((field) => field.columnName !== '')
