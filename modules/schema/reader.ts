import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Diagram } from '../../src/core/diagram.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { nameFormatOf } from '../../src/core/fields/linked-names.ts'
import type { Field, Table, TablePlace, TableSchema } from '../../src/core/model.ts'
import { type BaseRight, isListedFor } from '../../src/core/roles.ts'
import { publicSchema, viewsForVisitors } from '../../src/core/views/public-view.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { m } from '../../src/messages.gen.ts'
import {
  foreignSourceOf,
  foreignTable,
  type LogNames,
  loadShown,
  openField,
  openTable,
  readLogNames,
  refuseSchemaReadonly,
  type SchemaContext,
  writeRefusal,
} from './change/index.ts'
import { createReachable } from './computed/index.ts'
import { openFieldToCopy, openTableToCopy, titleForCopy } from './duplicate/index.ts'
import {
  checkFormulaDraft,
  clientOf,
  type DraftedFormula,
  draftFormula,
  type FormulaDraft,
  type FormulaVerdict,
  previewType,
} from './fields/index.ts'
import { allLinkFieldsOf, createKeyLoader, type FoundLink, linkFieldsOf } from './links/index.ts'
import { refuseUnstorable, type TableModel } from './model/index.ts'
import { diagramOf } from './tables/index.ts'
import {
  type Dependent,
  type DependentsOf,
  dependents,
  type TrashInBases,
  tablesIn,
  trashedFields,
  trashedFieldsIn,
  trashedFieldsOfBase,
  trashedTablesIn,
  trashedTablesOfBase,
} from './trash/index.ts'

/** Bases whose lists of link fields are kept. */
const CACHED_LINK_LISTS = 200

/** Reads of the schema, see `createSchemaReader`. */
export type SchemaReader = ReturnType<typeof createSchemaReader>

/** Reads tables and fields. Functions with an actor check its rights; those without leave that to the caller. */
export function createSchemaReader(context: SchemaContext) {
  const { kernel, access, bases, store } = context
  const load = (tableId: string) => loadShown(context, tableId)

  /** The tables of a base, without those of disabled sources. */
  async function shownTables(baseId: string, options: { trash?: boolean }): Promise<Table[]> {
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    const hidden = new Set(sources.filter(({ isEnabled }) => !isEnabled).map(({ id }) => id))
    const tables = await store.tablesOf(baseId, options)
    return hidden.size === 0 ? tables : tables.filter(({ sourceId }) => !hidden.has(sourceId))
  }

  /** Adds to a link field of a shared view how the names of the linked records are formatted. */
  async function withNames({ fields }: TableSchema, shown: Field): Promise<Field> {
    const original = fields.find(({ id }) => id === shown.id)
    const link = original && original.error === null ? linkOf(original) : null
    if (!link) return shown
    const related = await load(link.relatedTableId).catch((error) => {
      // The source of the related table is disabled, so there are no names to show.
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    })
    const names = related && nameFormatOf(related.displayField)
    return names ? { ...shown, options: { ...shown.options, names } } : shown
  }

  /** The table of a shared view, limited to what the view shows. @throws TABLE_NOT_FOUND for any other table */
  async function sharedTable(viewId: string, tableId: string): Promise<TableSchema> {
    const schema = await schemaOf(context, await load(tableId))
    const view = schema.views.find(({ id }) => id === viewId)
    if (!view) throw notFound('Table', tableId.slice(0, 64))
    const shown = publicSchema(schema, view)
    return { ...shown, fields: await Promise.all(shown.fields.map((field) => withNames(schema, field))) }
  }

  return {
    /**
     * A table with its fields, cached.
     * @throws TABLE_NOT_FOUND, also if the table, its base or its source is in the trash or disabled
     */
    load,
    sharedTable,
    /**
     * All models, by table id, that computing the fields of a table needs, including its own. Cached until one of them
     * changes. @throws TABLE_NOT_FOUND
     */
    loadReachable: createReachable({ ...store, load }),
    /** The database with the records of a table. */
    async engineOf(table: Table): Promise<Engine> {
      const source = await foreignSourceOf(context, table)
      return source ? kernel.sources.of(source) : kernel.sources.engine(table.baseId)
    },
    /** The client of the table's database, e.g. `sqlite3`. @throws SOURCE_NOT_FOUND */
    clientOf: (model: TableModel): Promise<string> => clientOf(store, model),
    /** Why the records of a table are read-only, as a message; null if they are not. */
    writeRefusal: async (model: TableModel): Promise<string | null> =>
      writeRefusal(model, await foreignSourceOf(context, model.table)),
    /** @throws BAD_REQUEST if the table cannot have indexes: a database view, or in a source without schema changes */
    async refuseIndexes(model: TableModel): Promise<void> {
      if (model.table.kind === 'view')
        throw badRequest(m.schema_error_view_without_index({ table: model.table.title }))
      await refuseSchemaReadonly(context, model.table)
    },
    /** The bases, or whether this one, in which a field notifies the people that its cells name. */
    basesThatNotify: (baseId?: string): Promise<string[]> => store.basesThatNotify(baseId),
    /** The bases with a field of files. */
    basesWithFiles: (): Promise<string[]> => store.basesWithFiles(),
    /**
     * A statement for a transaction that holds only while the table is as its model says: it violates a not-null constraint
     * otherwise. Changes of the table wait for that transaction.
     */
    unlessChanged({ table: { id, version } }: TableModel): MetaStatement {
      const { tables } = store
      const same = sql<number>`case when ${tables.version} = ${version} then ${tables.version} end`
      return kernel.meta.db.update(tables).set({ version: same }).where(eq(tables.id, id))
    },
    /** True while the table exists, also in the trash. */
    isKept: async (tableId: string): Promise<boolean> => (await store.findTable(tableId)) !== null,
    /** @throws BAD_REQUEST for a connected database, whose tables must be created in the database itself */
    refuseForeignTables: async (sourceId: string): Promise<void> => {
      if (await foreignSourceOf(context, { sourceId })) throw foreignTable()
    },
    /** The ids of the live tables of a base. Does not check access. */
    tableIds: async (baseId: string): Promise<string[]> => (await store.tablesOf(baseId)).map(({ id }) => id),
    /** The table of a base with this id or exact title. @throws TABLE_NOT_FOUND */
    async resolveTable(baseId: string, idOrTitle: string): Promise<TableModel> {
      const tables = await store.tablesOf(baseId)
      const found =
        tables.find((table) => table.id === idOrTitle) ?? tables.find((table) => table.title === idOrTitle)
      if (!found) throw notFound('Table', idOrTitle.slice(0, 255))
      return load(found.id)
    },
    /** The table that a live field belongs to. @throws FIELD_NOT_FOUND */
    async tableOfField(fieldId: string): Promise<TableModel> {
      const field = await store.findField(fieldId)
      if (!field || field.deletedAt !== null) throw notFound('Field', fieldId.slice(0, 64))
      return load(field.tableId)
    },
    /** Every live link field of a base. */
    linkFieldsOf: (baseId: string) => linkFieldsOf(kernel, store, baseId),
    /** Every link field of a base, including the trash. Cached, because each write of links asks for them. */
    allLinkFieldsOf: store.cachedReads<readonly FoundLink[]>(CACHED_LINK_LISTS, (baseId) =>
      allLinkFieldsOf(kernel, store, baseId),
    ),
    loadWithKeys: createKeyLoader(store),
    /** The table of a source by its name in the database, including the trash; null if unknown. */
    tableInDatabase: async (sourceId: string, tableName: string): Promise<Table | null> =>
      (await store.tablesOfSource(sourceId)).find((table) => table.tableName === tableName) ?? null,
    /** True if the base has tables, including the trash. */
    hasTables: store.hasTables,
    /** True if the table exists, including the trash. */
    hasTable: async (tableId: string): Promise<boolean> => (await store.findTable(tableId)) !== null,
    /** A field and its table. @throws FIELD_NOT_FOUND */
    openField: (actor: Actor, right: BaseRight, fieldId: string) => openField(context, actor, right, fieldId),
    /** The tables of a source in their order, without junction tables. */
    tablesOfSource: async (baseId: string, sourceId: string): Promise<Table[]> =>
      (await shownTables(baseId, {})).filter((table) => table.sourceId === sourceId && !table.isJunction),
    /** @throws TABLE_NOT_FOUND */
    openTable: (actor: Actor, right: BaseRight, tableId: string) => openTable(context, actor, right, tableId),
    /** The base with this id or title. @throws BASE_NOT_FOUND */
    resolveBase: (actor: Actor, idOrTitle: string) => bases.resolve(idOrTitle, actor),
    /** True if the base has this source. */
    hasSource: async (baseId: string, sourceId: string): Promise<boolean> =>
      ((await bases.sourcesOf([baseId])).get(baseId) ?? []).some(({ id }) => id === sourceId),
    viewsOf: (model: TableModel) => context.views.ofTable(model),
    /** The tables of a base in their order, or those in its trash; without junction tables by default. */
    async tables(
      actor: Actor,
      baseId: string,
      { includeJunctions = false, ...options }: { trash?: boolean; includeJunctions?: boolean } = {},
    ): Promise<Table[]> {
      const base = await bases.require(baseId)
      await access.authorize(actor, options.trash ? 'table.restore' : 'table.list', base.id)
      const tables = await shownTables(base.id, options)
      return tables.filter((table) => includeJunctions || !table.isJunction)
    },
    /**
     * A table with its fields and the views that the actor's role sees. For the public link of a view, limited to what
     * that view shows. @throws TABLE_NOT_FOUND
     */
    async table(actor: Actor, tableId: string): Promise<TableSchema> {
      if (actor.kind === 'share' && actor.grant.kind === 'view')
        return sharedTable(actor.grant.viewId, tableId)
      const schema = await schemaOf(context, await openTable(context, actor, 'table.read', tableId))
      const role = await access.baseRole(actor, schema.table.baseId)
      const views = schema.views.filter((view) => isListedFor(role, view))
      if (actor.kind !== 'share') return { ...schema, views }
      return { ...schema, views: views.map(viewsForVisitors(schema.fields).view) }
    },
    /**
     * Where a table is: its own place, or that of the table which has replaced it in another base. Null for a table that was
     * deleted or never there.
     * @throws PERMISSION_DENIED for those who may not open it there
     */
    async place(actor: Actor, tableId: string): Promise<TablePlace | null> {
      const passed = new Set<string>()
      let id = tableId
      for (let next: string | null = id; next !== null && !passed.has(next); next = await store.movedTo(id)) {
        id = next
        passed.add(id)
      }
      const found = await store.findTable(id)
      if (!found || found.deletedAt !== null) return null
      const { table } = await openTable(context, actor, 'table.read', id)
      const { title: baseTitle } = await bases.require(table.baseId)
      return { baseId: table.baseId, baseTitle, tableId: id, title: table.title }
    },
    /** The tables and links of a base for its diagram, including junction tables. @throws BASE_NOT_FOUND */
    async diagram(actor: Actor, baseId: string): Promise<Diagram> {
      const base = await bases.require(baseId)
      await access.authorize(actor, 'table.list', base.id)
      const tables = await shownTables(base.id, {})
      return diagramOf(await Promise.all(tables.map(({ id }) => store.load(id))))
    },
    openTableToCopy: (actor: Actor, tableId: string) => openTableToCopy(context, actor, tableId),
    /** The title of a copy: the requested one, or a free one. @throws BAD_REQUEST, DUPLICATE_ALIAS */
    titleForTable: (baseId: string, requested: string | null, original: string) =>
      titleForCopy(context, baseId, requested, original),
    openFieldToCopy: (actor: Actor, fieldId: string) => openFieldToCopy(context, actor, fieldId),
    /** The tables in a base's own database, including the trash. */
    async homeTables(baseId: string): Promise<Table[]> {
      const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
      const own = new Set(sources.filter(({ isOwn }) => isOwn).map(({ id }) => id))
      const all = [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))]
      return all.filter(({ sourceId }) => own.has(sourceId))
    },
    /** The tables and fields that log entries name, including the trash. */
    logNames: (baseId: string, tableIds: readonly string[]): Promise<LogNames> =>
      readLogNames(kernel, store, baseId, tableIds),
    /** True if the field exists, including the trash. */
    hasField: async (fieldId: string): Promise<boolean> => (await store.findField(fieldId)) !== null,
    previewType: (
      actor: Actor,
      fieldId: string,
      type: FieldTypeName,
      options?: FieldOptions,
      timeZone?: string,
    ) => previewType(context, actor, fieldId, type, options, timeZone),
    /** Checks an unsaved formula. */
    async checkFormula(actor: Actor, draft: FormulaDraft): Promise<FormulaVerdict> {
      refuseUnstorable(draft)
      return checkFormulaDraft(context, actor, draft)
    },
    /** An unsaved formula as a field of its table, to preview its results. */
    async draftFormula(actor: Actor, draft: FormulaDraft): Promise<DraftedFormula> {
      refuseUnstorable(draft)
      return draftFormula(context, actor, draft)
    },
    dependents: (actor: Actor, target: DependentsOf): Promise<Dependent[]> =>
      dependents(context, actor, target),
    trashedFieldsOfBase: (actor: Actor, baseId: string) => trashedFieldsOfBase(context, actor, baseId),
    trashedTablesOfBase: (actor: Actor, baseId: string) => trashedTablesOfBase(context, actor, baseId),
    tablesIn: (baseIds: readonly string[]) => tablesIn(context, baseIds),
    trashedTablesIn: (page: TrashInBases) => trashedTablesIn(context, page),
    trashedFieldsIn: (page: TrashInBases) => trashedFieldsIn(context, page),
    trashedFields: (actor: Actor, tableId: string) => trashedFields(context, actor, tableId),
  }
}

/** A table with its fields and all of its views. */
export async function schemaOf(context: SchemaContext, model: TableModel): Promise<TableSchema> {
  const { table, fields } = model
  const readOnlyReason = writeRefusal(model, await foreignSourceOf(context, table))
  return { table, fields, views: await context.views.ofTable(model), readOnlyReason }
}
