import { sql } from 'drizzle-orm'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'
import { columnOf, decodeRows } from './columns.ts'

const CHUNK = 500

/** Records as they stand, every live field by its id; the key is the record's id as text. */
export async function readCurrent(
  engine: Engine,
  model: TableModel,
  ids: RecordId[],
): Promise<Map<string, Values>> {
  const found = new Map<string, Values>()
  const { dialect } = engine
  const columns = sql.join([...model.fields.map(columnOf), columnOf(model.primaryKey)], sql`, `)
  for (let start = 0; start < ids.length; start += CHUNK) {
    const list = sql.join(
      ids.slice(start, start + CHUNK).map((id) => sql`${id}`),
      sql`, `,
    )
    const rows = await engine.values(
      dialect.render(
        sql`select ${columns} from ${sql.identifier(model.table.tableName)} where ${columnOf(model.primaryKey)} in (${list})`,
      ),
    )
    for (const row of decodeRows(rows, model.fields, dialect)) {
      const values: Record<string, CellValue> = {}
      model.fields.forEach((field, index) => {
        values[field.id] = row[index] ?? null
      })
      found.set(String(row.at(-1)), values)
    }
  }
  return found
}
