import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import type { Bench, TestTable } from './support.ts'

export const ROWS = 400

/** A table of every field type, and its records as tRPC gives them: what the memory is asked about. */
export interface FilterTable {
  table: TestTable
  fields: Field[]
  /** Values by field id. */
  rows: { id: number; values: Record<string, CellValue> }[]
}

export async function createFilterTable(bench: Bench): Promise<FilterTable> {
  const random = seeded(5)
  const value = (title: string) => pick(random, STORED_VALUES[title as keyof typeof STORED_VALUES])
  const today = new Date().toISOString().slice(0, 10)
  const table = await bench.table(
    { ...EVERY_TYPE, Made: 'CreatedTime', By: 'CreatedBy' },
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
