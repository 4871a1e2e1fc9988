import { type SQL, sql } from 'drizzle-orm'
import type { StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName } from '../table/index.ts'
import { RAW_PREFIX } from './write.ts'

/** A column as the log keeps it of a deleted record. */
export interface SnapshotColumn {
  /** Its field's id; for a column that belongs to no live field its name behind `RAW_PREFIX`. */
  key: string
  name: string
  column: SQL
  storage: StorageKind | null
  /** The type that it has in the database. */
  databaseType: string
}

/** Every column of a table: by its field's id, or by its name where its field is in the trash. */
export async function snapshot(model: TableModel, engine: Engine): Promise<SnapshotColumn[]> {
  const fields = new Map(
    model.fields
      .filter((field) => columnName(field) === field.columnName)
      .map((field) => [field.columnName, field]),
  )
  const columns = await engine.all<{ name: string; type: string }>(
    engine.dialect.listColumns(model.table.tableName),
  )
  return columns.map(({ name, type: databaseType }) => {
    const field = fields.get(name)
    return {
      key: field?.id ?? RAW_PREFIX + name,
      name,
      databaseType,
      column: sql`${sql.identifier(name)}`,
      storage: field ? fieldType(field.type).storage : null,
    }
  })
}
