import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { Engine, TableCopyColumn } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SourceRow } from '../../bases/index.ts'
import {
  actorIdOf,
  foreignSourceOf,
  refuseSchemaReadonly,
  type SchemaContext,
  type ScriptFollower,
} from '../change/index.ts'
import { referencesOf } from '../computed/index.ts'
import {
  createCopiedRows,
  fieldWithNewIds,
  openTableSlots,
  physicalName,
  type StoredField,
  type TableModel,
} from '../model/index.ts'
import type { TableCopy } from './draft.ts'

/** Names in the database that are tried for a copy. */
const MAX_NAMES = 50

/** The name of a copy in the database while it is filled. */
const stagingOf = (newTableId: string): string => `sheaf_copy_${newTableId}`

/**
 * Checks that a table of a connected database may be duplicated in it.
 *
 * @throws BAD_REQUEST for database views and read-only sources
 */
export async function refuseForeignCopy(
  context: SchemaContext,
  { table }: TableModel,
  source: SourceRow,
): Promise<void> {
  if (table.kind === 'view') throw badRequest(m.schema_error_duplicate_view({ table: table.title }))
  await refuseSchemaReadonly(context, table)
  if (source.isDataReadonly)
    throw badRequest(m.schema_error_source_read_only({ source: source.alias ?? source.client }))
}

/**
 * Duplicates a table of a connected database in that database: its columns, keys, defaults, checks, indexes and optionally
 * rows, by DDL. Fields and views are copied as they are; links, and fields that read through them, are left out, and keys of
 * links become plain values.
 *
 * @throws BAD_REQUEST for a table that the engine cannot copy; DATABASE_ERROR with the database's reason. Then no table is left
 */
export async function duplicateForeignTable(
  context: SchemaContext,
  actor: Actor,
  { model, source, copy }: { model: TableModel; source: SourceRow; copy: TableCopy },
  { signal, progress }: ScriptFollower,
): Promise<Table> {
  const engine = await context.kernel.sources.of(source)
  const { dialect } = engine
  const columns = await engine.all<TableCopyColumn>(dialect.tableCopy.read(model.table.tableName))
  const staging = stagingOf(copy.newTableId)
  const create = dialect.tableCopy.write(model.table.tableName, staging, columns, copy.withData)
  if (create === null) throw badRequest(m.schema_error_duplicate_definition({ table: model.table.title }))
  const name = await freeName(context, engine, source.id, copy.title)
  try {
    await engine.writeScript([...create, ...dialect.renameTable(staging, name)], {
      signal,
      ...(progress && { progress: (rows) => progress(rows, rows) }),
    })
  } catch (error) {
    // Some engines cannot roll back a new table.
    await drop(engine, staging)
    throw error
  }
  try {
    return await publish(context, actor, { model, copy, name })
  } catch (error) {
    await drop(engine, name)
    throw error
  }
}

/** Removes what an interrupted copy has left in the database. */
export async function dropForeignCopy(
  context: SchemaContext,
  { tableId, newTableId }: Pick<TableCopy, 'tableId' | 'newTableId'>,
): Promise<void> {
  const original = await context.store.findTable(tableId)
  const source = original && (await foreignSourceOf(context, original))
  if (source) await drop(await context.kernel.sources.of(source), stagingOf(newTableId))
}

async function drop(engine: Engine, table: string): Promise<void> {
  await engine.write(async (tx) => {
    for (const statement of engine.dialect.dropTable(table)) await tx.run(statement)
  })
}

/** A name that no table or view of the database has. */
async function freeName(
  { store }: SchemaContext,
  engine: Engine,
  sourceId: string,
  title: string,
): Promise<string> {
  const taken = new Set(
    (await store.tablesOfSource(sourceId)).map(({ tableName }) => tableName.toLowerCase()),
  )
  for (let tried = 0; tried < MAX_NAMES; tried++) {
    const name = physicalName(title, taken, 'table')
    const known = await engine.all(engine.dialect.listColumns(name))
    if (known.length === 0) return name
    taken.add(name.toLowerCase())
  }
  return physicalName(`${title}_${createId('option').slice(-6)}`, taken, 'table')
}

/** Stores the copy's definitions. */
function publish(
  context: SchemaContext,
  actor: Actor,
  { model, copy, name }: { model: TableModel; copy: TableCopy; name: string },
): Promise<Table> {
  const { table: original } = model
  return context.apply(actor, original.baseId, async ({ now }) => {
    const own = copiedFields(model)
    const views = await context.views.forCopies([original.id], copy.withViews)
    const ids = new Map<string, string>([
      [original.id, copy.newTableId],
      ...own.map(({ id }): [string, string] => [id, createId('field')]),
      ...views.ids.map((id): [string, string] => [id, createId('view')]),
    ])
    const slots = await openTableSlots(context.store, original.baseId, { now })
    const { title, description, meta } = { ...original, title: copy.title }
    const added = slots.add(
      { id: copy.newTableId, title, description, meta, isJunction: false },
      { freeTitle: true },
    )
    const table: Table = { ...added, sourceId: original.sourceId, tableName: name }
    const times = { createdAt: now, updatedAt: now, deletedAt: null }
    const fields = own.map((field) => ({ ...withoutLink(fieldWithNewIds(field, ids)), ...times }))
    return {
      statements: [
        ...createCopiedRows(context.kernel).insertRows({ tables: [table], fields }),
        ...views.insert(ids, actorIdOf(actor)),
      ],
      entry: {
        kind: 'table.create',
        tableId: table.id,
        detail: { tableId: table.id, tableTitle: table.title },
      },
      altered: { fields, tables: [table] },
      tableIds: [table.id],
      result: table,
    }
  })
}

/** The fields with a column, and those that are computed from only such. */
function copiedFields({ stored }: TableModel): StoredField[] {
  const kept = new Set(stored.filter(({ columnName }) => columnName !== '').map(({ id }) => id))
  const computed = stored.filter(
    ({ type, columnName, error }) =>
      columnName === '' && error === null && fieldType(type).computed !== 'link',
  )
  for (let size = -1; size !== kept.size; ) {
    size = kept.size
    for (const field of computed)
      if (referencesOf(field).every((read) => 'fieldId' in read && kept.has(read.fieldId))) kept.add(field.id)
  }
  return stored.filter(({ id }) => kept.has(id))
}

/** A key of a link becomes a plain value. */
function withoutLink(field: StoredField): StoredField {
  if (!isForeignKey(field)) return field
  const type = field.options.isText === true ? 'SingleLineText' : 'Number'
  return { ...field, type, options: {} }
}
