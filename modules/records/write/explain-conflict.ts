import type { Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { readColumn } from '../links/index.ts'
import { isForeign } from '../table/index.ts'

/** Values to be written to a table; without an id, of a new record. */
export interface Attempt {
  tableId: string
  rows: { id?: RecordId; values: Values }[]
}

/** Length limit of a quoted value. */
const QUOTED = 100

/**
 * Explains a violated constraint in terms of a field, the value and the record that has it: `Field “Email” must be
 * unique: “a@x.com” is already used by record 7`. Returns other errors unchanged.
 */
export async function explainViolation(
  error: unknown,
  engine: Pick<Engine, 'dialect' | 'all'>,
  models: TableModel[],
  attempts: Attempt[],
): Promise<unknown> {
  const violation = engine.dialect.violation(error)
  if (!violation) return error
  const isNamed = (field: Field) => violation.columns.includes(field.columnName)
  const candidates = models.flatMap((model) => model.fields.map((field) => ({ model, field })))
  const found =
    candidates.find(({ field }) => isNamed(field) && field[violation.kind]) ??
    candidates.find(({ field }) => isNamed(field))
  // A restored record may have a duplicate value in a unique field that is now in the trash.
  const trashed = models.flatMap((model) => [...model.trashedColumns.values()])
  if (violation.kind === 'unique' && violation.columns.some((column) => trashed.includes(column))) {
    return new AppError('DATABASE_ERROR', m.records_error_unique_in_trash())
  }
  // Connected databases have constraints that the metadata does not know; in a home that would be a bug.
  if (!found && models.some(isForeign)) return refusedByRule(violation.kind, error)
  if (!found) return error
  const { model, field } = found
  const details = { fieldId: field.id, field: field.title }
  if (violation.kind === 'required') {
    return new AppError(
      'REQUIRED_FIELD_MISSING',
      m.wire_error_field_required({ field: field.title }),
      details,
    )
  }
  const together = model.fields.filter(isNamed)
  if (isForeign(model) && violation.columns.length > 1 && together.length > 1) {
    const names = together.map(({ title }) => `"${title}"`).join(', ')
    return new AppError('DATABASE_ERROR', m.records_error_unique_together({ fields: names }), details)
  }
  if (model.table.isJunction && isForeignKey(field)) {
    return new AppError('DATABASE_ERROR', m.records_error_already_linked(), details)
  }
  const rows = attempts.filter(({ tableId }) => tableId === model.table.id).flatMap(({ rows }) => rows)
  const duplicate = await findDuplicate(engine, model, field, rows)
  if (!duplicate) {
    // Database collations may treat different texts as equal, e.g. ignoring case.
    const only = rows.length === 1 ? (rows[0]?.values[field.id] ?? null) : null
    const message =
      only === null
        ? m.records_error_not_unique({ field: field.title })
        : m.records_error_value_taken({ field: field.title, value: quoted(field, only) })
    return new AppError('DATABASE_ERROR', message, details)
  }
  const { value, recordId, row } = duplicate
  const shown = { field: field.title, value: quoted(field, value) }
  const message =
    recordId === null
      ? m.records_error_value_repeated(shown)
      : m.records_error_value_taken_by({ ...shown, record: recordId })
  return new AppError('DATABASE_ERROR', message, { ...details, value, recordId, row })
}

const quoted = (field: Field, value: CellValue): string => formatValue(field, value).slice(0, QUOTED)

/** Uses the database’s own message, which names its constraint and the values. */
function refusedByRule(kind: 'unique' | 'required', error: unknown): AppError {
  const reason = error instanceof Error ? error.message : ''
  return new AppError(
    'DATABASE_ERROR',
    kind === 'unique'
      ? m.records_error_record_exists({ reason })
      : m.records_error_value_required({ reason }),
  )
}

interface Duplicate {
  value: CellValue
  /** The record that has the value; null if the change itself contains it twice. */
  recordId: RecordId | null
  /** Index among the rows to write. */
  row: number
}

/** The first value that conflicts; null if the conflict is gone. */
async function findDuplicate(
  engine: Pick<Engine, 'dialect' | 'all'>,
  model: TableModel,
  field: Field,
  rows: Attempt['rows'],
): Promise<Duplicate | null> {
  const given = rows.flatMap(({ id, values }, row) => {
    const value = values[field.id] ?? null
    return value === null ? [] : [{ id, value, row }]
  })
  const values = [...new Set(given.map(({ value }) => value))]
  const holders = await readColumn(
    { tx: engine, dialect: engine.dialect },
    model,
    { by: field, wanted: model.primaryKey },
    values,
  )
  const seen = new Set<CellValue>()
  // Records that get another value release theirs.
  const leaving = new Set(
    rows.flatMap(({ id, values }) => (id !== undefined && field.id in values ? [String(id)] : [])),
  )
  for (const { id, value, row } of given) {
    if (seen.has(value)) return { value, recordId: null, row }
    seen.add(value)
    const holder = holders.get(String(value)) as RecordId | undefined
    if (holder === undefined || String(holder) === String(id) || leaving.has(String(holder))) continue
    return { value, recordId: holder, row }
  }
  return null
}
