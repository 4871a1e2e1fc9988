import type { Actor } from '../../../src/core/actor.ts'
import type { Table } from '../../../src/core/model.ts'
import type { ColumnDefinition } from '../../../src/dialects/dialect.ts'
import type { SchemaContext } from '../change/index.ts'
import { columnOf, duplicateTable, isTitleTaken } from '../model/index.ts'
import { addTable, type NewTable, type PlannedTable, planTable } from './create.ts'

/** A table that will be filled before anyone can see it. */
export interface PreparedTable extends PlannedTable {
  /** What its columns must be in the database. */
  columns: ColumnDefinition[]
}

/**
 * The first half of making a table: an import fills a staging table with these columns, which nobody
 * sees, and then has `publishTable` make a table of it.
 *
 * @throws as `createTable`
 */
export async function prepareTable(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
  input: NewTable,
): Promise<PreparedTable> {
  const planned = await planTable(context, actor, baseId, input)
  // Asked early, so that a title in use is refused before the work and not after it.
  if (isTitleTaken(planned.title, await context.store.tablesOf(planned.baseId))) {
    throw duplicateTable(planned.title, planned.baseId)
  }
  return { ...planned, columns: planned.fields.flatMap(columnOf) }
}

/**
 * The second half: the filled staging table becomes the table, in one step. Its title gets a suffix
 * where somebody has taken it meanwhile. The index on its order must be there already.
 */
export function publishTable(
  context: SchemaContext,
  actor: Actor,
  prepared: PreparedTable,
  { staging, imported }: { staging: string; imported: number },
): Promise<Table> {
  return addTable(context, actor, prepared, (name, dialect) => dialect.renameTable(staging, name), {
    freeTitle: true,
    imported,
  })
}
