import { fieldType } from '../../src/core/fields/index.ts'
import type { Dialect, Engine, Statement } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'
import { type ImportColumn, isLinkColumn, LINKS_COLUMNS, linksTableOf, ROW_COLUMN } from './plan.ts'

const PLAIN = { required: false, defaultValue: null }

/** Staging columns of an import into a table: those that it fills, of the same kinds. */
export function stagingColumns(columns: ImportColumn[], model: TableModel | null) {
  const storageOf = (fieldId: string) => fieldType(model?.field(fieldId)?.type ?? '').storage
  return [
    { name: ROW_COLUMN, storage: 'id' as const, ...PLAIN },
    ...columns.map(({ column, fieldId }) => ({ name: column, storage: storageOf(fieldId), ...PLAIN })),
  ]
}

/** The table in which the links of the rows are gathered, where a column has any. */
export function linksTable(dialect: Dialect, staging: string, columns: ImportColumn[]): Statement[] {
  if (!columns.some(isLinkColumn)) return []
  const integers = LINKS_COLUMNS.map((column) => ({ name: column, storage: 'integer' as const, ...PLAIN }))
  return dialect.createTable(linksTableOf(staging), integers)
}

/** Removes what an import has laid beside the tables, if it is there. */
export async function dropStaging(engine: Engine, staging: string): Promise<void> {
  for (const name of [staging, linksTableOf(staging)]) {
    await engine.writeScript(engine.dialect.dropTable(name))
  }
}
