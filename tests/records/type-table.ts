import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { FieldSpec, TestTable } from './support.ts'
import { caseOf, type TypeWorld } from './type-cases.ts'

/** A table with one field of the type, `V`. */
export const tableOf = (
  world: TypeWorld,
  type: FieldTypeName,
  more: Partial<Exclude<FieldSpec, string>> = {},
) => world.bench.table({ Title: 'SingleLineText', V: { type, options: caseOf(type).options, ...more } })

/** The values of a field in the table's order, as tRPC gives them. */
export async function cellsOf(
  world: TypeWorld,
  table: TestTable,
  query: object = {},
  title = 'V',
): Promise<CellValue[]> {
  const fieldIds = [table.field(title).id]
  const page = await world.bench.trpc.records.list.query({
    query: { tableId: table.id, fieldIds, limit: 1000, offset: 0, ...query },
  })
  return page.rows.map(([value]) => value ?? null)
}

/** Adds a record for each value, over tRPC. */
export const insert = (world: TypeWorld, table: TestTable, values: CellValue[]) =>
  world.bench.trpc.records.write.mutate({
    change: {
      baseId: world.bench.baseId,
      operations: [
        {
          kind: 'insert',
          tableId: table.id,
          rows: values.map((value) => ({ values: { [table.field('V').id]: value } })),
        },
      ],
    },
  })

/** The type's values with an empty one among them, as written, as tRPC sees them and as REST shows them. */
export function valuesOf(world: TypeWorld, type: FieldTypeName) {
  const { values, seen = (value) => value, shown = (value) => value } = caseOf(type)
  const written = [...values(world), null]
  return {
    written,
    seen: written.map((value) => (value === null ? null : seen(value))),
    shown: written.map((value) => (value === null ? null : shown(value, world))),
  }
}
