import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOptions } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { DatabaseStructure, TableStructure } from '../../../src/db/introspect/index.ts'
import type { ColumnDefinition, Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SourceRow } from '../../bases/index.ts'
import { areAlike, type SchemaContext } from '../change/index.ts'
import { columnOf, isTitleTaken, MAX_TABLES, physicalName } from '../model/index.ts'
import type { PreparedTable } from '../tables/index.ts'
import { planLinks } from './plan-links.ts'
import { createTitles, type PlannedForeignTable, planTable } from './plan-table.ts'
import { findSource, NO_INFLECTION, planContext, planStatements, readStructure } from './write-plan.ts'

/** A table to create in a connected database. */
export interface NewConnectedTable {
  sourceId: string
  /** Its fields keep their ids. */
  prepared: PreparedTable
  /** One of the fields becomes a link to the records of another table of that database, by a foreign key. */
  link?: { fieldId: string; relatedTableId: string }
}

/**
 * Checks that tables can be created in a connected database and written.
 *
 * @throws SOURCE_NOT_FOUND; BAD_REQUEST if it allows no changes of its structure or its records
 */
export async function requireWritableSource(
  context: Pick<SchemaContext, 'bases'>,
  baseId: string,
  sourceId: string,
): Promise<SourceRow> {
  const source = await findSource(context, baseId, sourceId)
  if (!source || source.isOwn) throw notFound('Source', sourceId)
  const name = source.alias ?? source.client
  if (source.isSchemaReadonly || source.isDataReadonly)
    throw badRequest(m.schema_error_source_tables_read_only({ source: name }))
  return source
}

/**
 * Creates a table in a connected database, with a numbered key and a column for each field, and adds it to the base. Fields get
 * the types that their columns have there where the requested ones would not survive a synchronization. A link has its reverse in
 * the other table.
 *
 * @throws as `requireWritableSource`; TABLE_NOT_FOUND for a linked table; DATABASE_ERROR if the database refuses the table;
 * nothing is created then
 */
export async function createConnectedTable(
  context: SchemaContext,
  actor: Actor,
  { sourceId, prepared, link }: NewConnectedTable,
): Promise<Table> {
  const { baseId } = prepared
  await context.access.authorize(actor, 'table.create', baseId)
  const source = await requireWritableSource(context, baseId, sourceId)
  const config = context.bases.sources.requireConnection(source)
  const engine = await context.kernel.sources.of(source)
  const before = await readStructure(config)
  const names = new Set(before.tables.map(({ name }) => name.toLowerCase()))
  const name = physicalName(prepared.title, names, 'table')
  const parent = link ? await openParent(context, link, before) : null
  const columns = nameColumns(prepared, link)
  const { dialect } = engine
  await engine.write(async (tx) => {
    const definitions = columns.flatMap(({ field, columnName }) =>
      columnOf({ ...field, columnName }).map((column) =>
        parent && field.id === link?.fieldId ? { ...column, references: parent.key } : column,
      ),
    )
    for (const statement of dialect.createTable(name, definitions)) await tx.run(statement)
    const keys = definitions.flatMap((column) => (column.references ? column.name : []))
    if (keys.length > 0) for (const statement of dialect.createIndex(name, keys)) await tx.run(statement)
  })
  try {
    const structure = (await readStructure(config)).tables.find((table) => table.name === name)
    if (!structure) throw new AppError('DATABASE_ERROR', m.schema_error_table_not_created({ table: name }))
    return await addTable(context, actor, source, { prepared, columns, structure, link, parent })
  } catch (error) {
    await drop(engine, name)
    throw error
  }
}

/** The table that a new one links to, and the key that its foreign key refers to. */
interface Parent {
  planned: PlannedForeignTable
  key: NonNullable<ColumnDefinition['references']>
}

/** @throws TABLE_NOT_FOUND; CONFLICT if the database has the table no more, or not with a key of one column */
async function openParent(
  { store }: SchemaContext,
  { relatedTableId }: NonNullable<NewConnectedTable['link']>,
  { tables }: DatabaseStructure,
): Promise<Parent> {
  const { table, fields } = await store.load(relatedTableId)
  const structure = tables.find(({ name }) => name === table.tableName)
  const [keyName, ...others] = structure?.primaryKey ?? []
  const key = structure?.columns.find(({ name }) => name === keyName)
  if (!structure || !key || others.length > 0)
    throw new AppError('CONFLICT', m.schema_error_link_key({ table: table.title }))
  return {
    planned: { table, fields, structure, former: [] },
    key: { table: table.tableName, column: key.name, type: key.type },
  }
}

interface NamedColumn {
  field: Field
  columnName: string
}

/** The columns of the key and of the fields, named after their titles; that of a link as foreign keys are. */
function nameColumns({ fields }: PreparedTable, link: NewConnectedTable['link']): NamedColumn[] {
  const key = fields.find(({ isPrimaryKey }) => isPrimaryKey)
  const taken = new Set(['id'])
  const own = fields
    .filter((field) => !field.isSystem && !field.isPrimaryKey)
    .map((field) => {
      const columnName = physicalName(nameOf(field, link), taken, 'field')
      taken.add(columnName.toLowerCase())
      return { field, columnName }
    })
  return key ? [{ field: key, columnName: 'id' }, ...own] : own
}

const nameOf = ({ id, title }: Field, link: NewConnectedTable['link']): string =>
  id === link?.fieldId ? `${title}_id` : title

function addTable(
  context: SchemaContext,
  actor: Actor,
  source: SourceRow,
  {
    prepared,
    columns,
    structure,
    link,
    parent,
  }: {
    prepared: PreparedTable
    columns: NamedColumn[]
    structure: TableStructure
    link: NewConnectedTable['link']
    parent: Parent | null
  },
): Promise<Table> {
  const { baseId, tableId } = prepared
  const config = context.bases.sources.requireConnection(source)
  return context.apply(actor, baseId, async ({ now }) => {
    const others = await context.store.tablesOf(baseId)
    if (others.length >= MAX_TABLES)
      throw badRequest(m.schema_error_source_tables({ max: MAX_TABLES, count: others.length + 1 }))
    const title = isTitleTaken(prepared.title, others)
      ? createTitles(others.map((other) => other.title))(prepared.title)
      : prepared.title
    const order = Math.max(0, ...others.map((other) => other.order)) + 1
    const planned = planTable(planContext(NO_INFLECTION, source.id, baseId, now, config), structure, {
      title,
      order,
    })
    const added = withRequestedFields(planned, tableId, columns, link)
    const related = parent && { ...parent.planned, fields: [...parent.planned.fields] }
    if (related) planLinks([added, related], (child) => child === structure)
    const reverse = related ? related.fields.filter((field) => !parent?.planned.fields.includes(field)) : []
    const none = { tableIds: [], fieldIds: [] }
    const plan = {
      newTables: [added],
      newFields: reverse,
      changedTables: [],
      changedFields: [],
      removed: none,
      restored: none,
      removedFields: [],
      restoredFields: [],
      notes: [],
    }
    return {
      statements: [
        ...(await planStatements(context, plan, { actorId: actorIdOf(actor), now })),
        ...context.bases.sources.chosen(source, [structure.name]),
      ],
      entry: { kind: 'table.create', tableId, detail: { tableId, tableTitle: title } },
      ...(related && {
        altered: { fields: [...added.fields, ...reverse].map((field) => ({ ...field, deletedAt: null })) },
      }),
      tableIds: [tableId, ...reverse.map((field) => field.tableId)],
      result: added.table,
    }
  })
}

function withRequestedFields(
  planned: PlannedForeignTable,
  tableId: string,
  columns: readonly NamedColumn[],
  link: NewConnectedTable['link'],
): PlannedForeignTable {
  const hasDisplay = columns.some(({ field }) => field.isDisplay)
  const titles = createTitles(columns.map(({ field }) => field.title))
  const former: Field[] = []
  return {
    ...planned,
    table: { ...planned.table, id: tableId },
    former,
    fields: planned.fields.map((field): Field => {
      const wanted = columns.find(({ columnName }) => columnName === field.columnName)?.field
      if (!wanted) return { ...field, tableId }
      const { id, title, type, options, isDisplay } = wanted
      if (link?.fieldId === id) {
        // `planLinks` gives the link the id and title of the one that its key had before.
        const { relatedTableId } = link
        const own = { kind: 'bt', relatedTableId, keyFieldId: field.id, holdsKey: true }
        former.push({
          ...wanted,
          tableId,
          order: field.order,
          type: 'LinkToAnotherRecord',
          options: linkOptions.parse(own),
        })
        return { ...field, tableId, title: titles(field.title) }
      }
      return {
        ...field,
        id,
        tableId,
        title,
        isDisplay: hasDisplay ? isDisplay : field.isDisplay,
        ...(areAlike(field.type, type) && { type, options }),
      }
    }),
  }
}

/** The table is as empty as it was created. */
const drop = (engine: Engine, name: string): Promise<void> =>
  engine.write(async (tx) => {
    for (const statement of engine.dialect.dropTable(name)) await tx.run(statement)
  })
