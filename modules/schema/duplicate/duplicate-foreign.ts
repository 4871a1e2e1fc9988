import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { NotCopiedPart } from '../../../src/core/table-copies.ts'
import type { Engine, TableCopyAddition, TableCopyColumn } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SourceRow } from '../../bases/index.ts'
import {
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
import type { CopiedTable, TableCopy } from './draft.ts'

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
 * Duplicates a table of a connected database in that database: its columns, keys, defaults, checks, indexes, references and
 * optionally rows, by DDL. Fields and views are copied as they are; links, and fields that read through them, are left out, and
 * keys of links become plain values.
 *
 * @throws BAD_REQUEST for a table that the engine cannot copy; DATABASE_ERROR with the database's reason. Then no table is left
 */
export async function duplicateForeignTable(
  context: SchemaContext,
  actor: Actor,
  { model, source, copy }: { model: TableModel; source: SourceRow; copy: TableCopy },
  { signal, progress }: ScriptFollower,
): Promise<CopiedTable> {
  const engine = await context.kernel.sources.of(source)
  const { dialect } = engine
  const original = model.table.tableName
  const columns = await engine.all<TableCopyColumn>(dialect.tableCopy.read(original))
  const staging = stagingOf(copy.newTableId)
  const create = dialect.tableCopy.write(original, staging, columns, copy.withData)
  if (create === null) throw badRequest(m.schema_error_duplicate_definition({ table: model.table.title }))
  const name = await freeName(context, engine, source.id, copy)
  const notCopied: NotCopiedPart[] = []
  try {
    await engine.writeScript(create, {
      signal,
      ...(progress && { progress: (rows) => progress(rows, rows) }),
    })
    notCopied.push(...(await addAdditions(context, engine, original, staging)))
    signal?.throwIfAborted()
    await engine.writeScript(dialect.renameTable(staging, name))
  } catch (error) {
    // Some engines cannot roll back a new table.
    await drop(engine, staging)
    throw error
  }
  notCopied.push(...(await engine.all<NotCopiedPart>(dialect.tableCopy.readLeftOut(original))))
  try {
    return { table: await publish(context, actor, { model, copy, name }), notCopied }
  } catch (error) {
    await drop(engine, name)
    throw error
  }
}

/** Adds foreign keys and indexes to a filled copy. Returns those that the database refuses, such as for lack of rights. */
async function addAdditions(
  { kernel: { log } }: SchemaContext,
  engine: Engine,
  from: string,
  to: string,
): Promise<NotCopiedPart[]> {
  const { tableCopy } = engine.dialect
  const refused: NotCopiedPart[] = []
  for (const addition of await engine.all<TableCopyAddition>(tableCopy.readAdditions(from, to))) {
    const { kind, name } = addition
    const statement = tableCopy.add(addition, to)
    try {
      if (statement) await engine.writeScript([statement])
      else refused.push({ kind, name })
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'DATABASE_UNREACHABLE') throw error
      log.warn('a part of a copied table was refused', { kind, name, reason: error.message })
      refused.push({ kind, name })
    }
  }
  return refused
}

/**
 * Ends a copy that was cut off: an incomplete table is removed from the database, and one that only lacks its definitions
 * gets them.
 *
 * @returns the completed copy, or null
 */
export async function completeForeignCopy(
  context: SchemaContext,
  actor: Actor,
  copy: TableCopy,
): Promise<Table | null> {
  const original = await context.store.findTable(copy.tableId)
  const source = original && (await foreignSourceOf(context, original))
  if (!source) return null
  const engine = await context.kernel.sources.of(source)
  const { dialect } = engine
  const columnsOf = (table: string) => engine.all<{ name: string }>(dialect.listColumns(table))
  const staging = stagingOf(copy.newTableId)
  if ((await columnsOf(staging)).length > 0) {
    await drop(engine, staging)
    return null
  }
  if (copy.name === undefined || original.deletedAt !== null) return null
  const known = new Set(
    (await context.store.tablesOfSource(source.id)).map(({ tableName }) => tableName.toLowerCase()),
  )
  const expected = await columnsOf(original.tableName)
  for (const name of namesOf({ ...copy, name: copy.name })) {
    const found = await columnsOf(name)
    if (found.length === 0 || known.has(name.toLowerCase()) || !Bun.deepEquals(found, expected)) continue
    return publish(context, actor, { model: await context.store.load(copy.tableId), copy, name })
  }
  return null
}

async function drop(engine: Engine, table: string): Promise<void> {
  await engine.write(async (tx) => {
    for (const statement of engine.dialect.dropTable(table)) await tx.run(statement)
  })
}

/** The names that a copy may have: the second one only it can have. */
const namesOf = ({ name, newTableId }: { name: string; newTableId: string }): string[] => [
  `${name}_${newTableId.slice(-6)}`,
  name,
]

/** The name of a copy, or one like it if the database has that by now. */
async function freeName(
  context: SchemaContext,
  engine: Engine,
  sourceId: string,
  { title, newTableId, ...copy }: TableCopy,
): Promise<string> {
  const name = copy.name ?? (await findFreeName(context, engine, sourceId, title))
  const [own = name, asked = name] = namesOf({ name, newTableId })
  return (await engine.all(engine.dialect.listColumns(asked))).length === 0 ? asked : own
}

/** A name for the copy of a table of a connected database. Undefined for other tables. */
export async function nameForCopy(
  context: SchemaContext,
  { table }: TableModel,
  title: string,
): Promise<string | undefined> {
  const source = await foreignSourceOf(context, table)
  if (!source) return undefined
  return findFreeName(context, await context.kernel.sources.of(source), source.id, title)
}

/** A name that no table or view of the database has. */
async function findFreeName(
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
