import type { CellValue } from '../../src/core/fields/field-type.ts'
import { DATE_OPERANDS } from '../../src/core/filters/filter.ts'
import { arityFor, type Condition, type FilterOperator, setOf } from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import type { Bench, FieldSpec, TestTable } from './support.ts'

export const ROWS = 400

/** A table of every field type, and its records as tRPC gives them: what the memory is asked about. */
export interface FilterTable {
  table: TestTable
  fields: Field[]
  /** Values by field id. */
  rows: { id: number; values: Record<string, CellValue> }[]
}

/** @param more fields with values of the system */
export async function createFilterTable(
  bench: Bench,
  more: Record<string, FieldSpec> = {},
): Promise<FilterTable> {
  const random = seeded(5)
  const value = (title: string) => pick(random, STORED_VALUES[title as keyof typeof STORED_VALUES])
  const today = new Date().toISOString().slice(0, 10)
  const table = await bench.table(
    { ...EVERY_TYPE, Made: 'CreatedTime', By: 'CreatedBy', ...more },
    Array.from({ length: ROWS }, (_, index) => ({
      ...Object.fromEntries(Object.keys(EVERY_TYPE).map((title) => [title, value(title)])),
      ...(index % 9 === 0 && { D: today, Dt: `${today} 12:00:00+00:00` }),
    })),
  )
  const fields = table.schema.fields.filter((field) => !field.isSystem)
  const page = await bench.trpc.records.list.query({
    query: { tableId: table.id, fieldIds: fields.map(({ id }) => id), limit: 1000, offset: 0 },
  })
  const rows = page.rows.map((cells, index) => ({
    id: Number(page.ids[index]),
    values: Object.fromEntries(page.fieldIds.map((fieldId, at) => [fieldId, cells[at] ?? null])),
  }))
  return { table, fields, rows }
}

/** A condition of an operator on a field, with a value that records may have. */
export function randomCondition(
  random: () => number,
  field: Field,
  operator: FilterOperator,
  owner: { id: string; email: string },
): Condition {
  const others =
    field.type === 'ID'
      ? [1, 5, 100, 399]
      : field.type === 'CreatedTime'
        ? ['2024-02-29', '2024-02-29 12:00:00+00:00']
        : [owner.id, owner.email, '@me']
  const known = STORED_VALUES[field.title as keyof typeof STORED_VALUES] ?? others
  return conditionWith(random, field, operator, known)
}

/** A condition of an operator on a field, with some of these values or parts of them. */
export function conditionWith(
  random: () => number,
  field: Field,
  operator: FilterOperator,
  known: readonly CellValue[],
): Condition {
  // A multi select is asked for its options, of which a stored value may hold several.
  const listed = field.type === 'MultiSelect' ? ['red', 'blue', 'dark red'] : known
  const values = listed.filter((value): value is string | number | boolean => value !== null && value !== '')
  const operand = arityFor(operator, setOf(field)) === 'date' ? pick(random, DATE_OPERANDS) : null
  const part = (value: CellValue): CellValue => {
    const text = String(value)
    return operator.comparesText && random() < 0.6
      ? text.slice(Math.floor(random() * text.length)).toLowerCase()
      : value
  }
  const value: Condition['value'] =
    operand && operand !== 'exactDate'
      ? pick(random, [1, 3, 40])
      : operator.arity === 'many' || operator.arity === 'two'
        ? [pick(random, values), pick(random, values)]
        : operator.arity === 'word'
          ? pick(random, ['null', 'notnull', 'empty', 'notempty', 'blank', 'notblank', 'true', 'false'])
          : part(pick(random, values))
  return { fieldId: field.id, operator: operator.key, operand, value }
}
