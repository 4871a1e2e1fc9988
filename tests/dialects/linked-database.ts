import { type SQL, sql } from 'drizzle-orm'
import { columnName } from '../../modules/records/table/columns.ts'
import { isComputed, storageOf } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { TestEngine } from './engines.ts'
import { LINKED_ROWS, modelOf } from './linked-tables.ts'

/** Makes the tables of authors, books and tags in an engine, and fills them. */
export async function fillLinked(engine: TestEngine): Promise<void> {
  /** MySQL takes no offset in an instant. */
  const written = (value: CellValue): CellValue =>
    engine.dialect.client === 'mysql2' && typeof value === 'string' ? value.replace('+00:00', '') : value
  const list = (parts: SQL[]) => sql.join(parts, sql`, `)
  for (const [table, rows] of Object.entries(LINKED_ROWS)) {
    const { fields, table: definition } = modelOf(table)
    const stored = fields.filter((field) => !isComputed(field))
    const columns = stored.map((field) => ({
      name: columnName(field),
      storage: storageOf(field),
      required: false,
      defaultValue: null,
    }))
    for (const statement of engine.dialect.createTable(definition.tableName, columns)) {
      await engine.rows(statement)
    }
    const names = stored.map((field) => sql`${sql.identifier(columnName(field))}`)
    const values = rows.map(
      (row) => sql`(${list(stored.map((field) => sql`${written(row[field.title] ?? null)}`))})`,
    )
    const insert = sql`insert into ${sql.identifier(definition.tableName)} (${list(names)}) values ${list(values)}`
    await engine.rows(engine.dialect.render(insert))
  }
}
