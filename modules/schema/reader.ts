import type { Actor } from '../../src/core/actor.ts'
import type { Diagram } from '../../src/core/diagram.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { namesToTell } from '../../src/core/fields/linked-names.ts'
import type { Field, Table, TableSchema } from '../../src/core/model.ts'
import { type BaseRight, isListedFor } from '../../src/core/roles.ts'
import { publicSchema, withPublicOptions } from '../../src/core/views/public-view.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import {
  foreignSourceOf,
  foreignTable,
  type LogNames,
  loadShown,
  openField,
  openTable,
  readLogNames,
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
import { allLinkFieldsOf, createKeyLoader, linkFieldsOf } from './links/index.ts'
import { refuseUnstorable, type TableModel } from './model/index.ts'
import { diagramOf } from './tables/index.ts'
import {
  type Dependent,
  type DependentsOf,
  dependents,
  trashedFields,
  trashedFieldsOfBase,
} from './trash/index.ts'

/** Where the schema is asked, see `createSchemaReader`. */
export type SchemaReader = ReturnType<typeof createSchemaReader>

/**
 * What others ask about tables and fields. Without an actor nothing is checked: for modules that have checked already.
 * With one, the right that the operation needs is.
 */
export function createSchemaReader(context: SchemaContext) {
  const { kernel, access, bases, store } = context
  const load = (tableId: string) => loadShown(context, tableId)

  /** The tables of a base but for those of sources that are switched off. */
  async function shownTables(baseId: string, options: { trash?: boolean }): Promise<Table[]> {
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    const hidden = new Set(sources.filter(({ isEnabled }) => !isEnabled).map(({ id }) => id))
    const tables = await store.tablesOf(baseId, options)
    return hidden.size === 0 ? tables : tables.filter(({ sourceId }) => !hidden.has(sourceId))
  }

  /** A field as a link to a view shows it, with how the names behind it are written where it is a link itself. */
  async function withNames({ fields }: TableSchema, shown: Field): Promise<Field> {
    const whole = fields.find(({ id }) => id === shown.id)
    const link = whole && whole.error === null ? linkOf(whole) : null
    if (!link) return shown
    const related = await load(link.relatedTableId).catch((error) => {
      // Its source is switched off: there are no names to show either.
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    })
    const names = related && namesToTell(related.displayField)
    return names ? { ...shown, options: { ...shown.options, names } } : shown
  }

  /** What a link to a view tells of its table. @throws TABLE_NOT_FOUND for any other */
  async function tableOfLink(viewId: string, tableId: string): Promise<TableSchema> {
    const whole = await schemaOf(context, await load(tableId))
    const view = whole.views.find(({ id }) => id === viewId)
    if (!view) throw notFound('Table', tableId.slice(0, 64))
    const shown = publicSchema(whole, view)
    return { ...shown, fields: await Promise.all(shown.fields.map((field) => withNames(whole, field))) }
  }

  return {
    /**
     * The table of an id with its fields, from memory where it is known.
     * @throws TABLE_NOT_FOUND, also for a table in the trash or in a base that is
     */
    load,
    /**
     * The models by table id that are needed to work out any field of a table, its own among them.
     * Cheap while nothing changes. @throws TABLE_NOT_FOUND
     */
    loadReachable: createReachable({ ...store, load }),
    /** The database that holds the records of a table. */
    async engineOf(table: Table): Promise<Engine> {
      const source = await foreignSourceOf(context, table)
      return source ? kernel.sources.of(source) : kernel.sources.engine(table.baseId)
    },
    /** The client of that database, e.g. `sqlite3`. @throws SOURCE_NOT_FOUND */
    clientOf: (model: TableModel): Promise<string> => clientOf(store, model),
    /** Why nobody may write the records of a table, in words; null where one may. */
    writeRefusal: async (model: TableModel): Promise<string | null> =>
      writeRefusal(model, await foreignSourceOf(context, model.table)),
    /** @throws BAD_REQUEST for a source that is not the base's own: its tables are made in its own database */
    refuseForeignTables: async (sourceId: string): Promise<void> => {
      if (await foreignSourceOf(context, { sourceId })) throw foreignTable()
    },
    /**
     * The table that REST clients mean: an id of any base's table in this base, else an exact title.
     * @throws TABLE_NOT_FOUND
     */
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
    /** Every live link field of a base, for those who keep both of its sides true. */
    linkFieldsOf: (baseId: string) => linkFieldsOf(kernel, store, baseId),
    /** The same with those in the trash. */
    allLinkFieldsOf: (baseId: string) => allLinkFieldsOf(kernel, store, baseId),
    loadWithKeys: createKeyLoader(store),
    /** The table of a source by its name in the database, in the trash or not; null for one that is not known. */
    tableInDatabase: async (sourceId: string, tableName: string): Promise<Table | null> =>
      (await store.tablesOfSource(sourceId)).find((table) => table.tableName === tableName) ?? null,
    /** True where a base has, or had, a table in its own home. */
    hasTables: store.hasTables,
    /** True where the table exists, in the trash or not. */
    hasTable: async (tableId: string): Promise<boolean> => (await store.findTable(tableId)) !== null,
    /** The field of an id and its table, for someone who holds the right. @throws FIELD_NOT_FOUND */
    openField: (actor: Actor, right: BaseRight, fieldId: string) => openField(context, actor, right, fieldId),
    /** The tables of a source in their order, but for those that hold pairs of links. */
    tablesOfSource: async (baseId: string, sourceId: string): Promise<Table[]> =>
      (await shownTables(baseId, {})).filter((table) => table.sourceId === sourceId && !table.isJunction),
    /** The table of an id, for someone who holds the right. @throws TABLE_NOT_FOUND */
    openTable: (actor: Actor, right: BaseRight, tableId: string) => openTable(context, actor, right, tableId),
    /** The base of an id or title, as REST paths name it. @throws BASE_NOT_FOUND */
    resolveBase: (actor: Actor, idOrTitle: string) => bases.resolve(idOrTitle, actor),
    /** True where the base reads this database. */
    hasSource: async (baseId: string, sourceId: string): Promise<boolean> =>
      ((await bases.sourcesOf([baseId])).get(baseId) ?? []).some(({ id }) => id === sourceId),
    viewsOf: (model: TableModel) => context.views.ofTable(model),
    /** The tables of a base in their order, or those in its trash; without those that hold pairs of links. */
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
     * A table with its fields and the views that are not hidden from the actor's role; by a link to a view, with what
     * that view shows. @throws TABLE_NOT_FOUND
     */
    async table(actor: Actor, tableId: string): Promise<TableSchema> {
      if (actor.kind === 'share' && actor.grant.kind === 'view')
        return tableOfLink(actor.grant.viewId, tableId)
      const whole = await schemaOf(context, await openTable(context, actor, 'table.read', tableId))
      const role = await access.baseRole(actor, whole.table.baseId)
      const views = whole.views.filter((view) => isListedFor(role, view))
      return { ...whole, views: actor.kind === 'share' ? views.map(withPublicOptions) : views }
    },
    /** What a diagram of the base draws, tables of pairs included. @throws BASE_NOT_FOUND */
    async diagram(actor: Actor, baseId: string): Promise<Diagram> {
      const base = await bases.require(baseId)
      await access.authorize(actor, 'table.list', base.id)
      const tables = await shownTables(base.id, {})
      return diagramOf(await Promise.all(tables.map(({ id }) => store.load(id))))
    },
    /** For the jobs that copy: see `openTableToCopy` and `duplicateTable`. */
    openTableToCopy: (actor: Actor, tableId: string) => openTableToCopy(context, actor, tableId),
    /** The title of a copy: the one asked for, or a free one. @throws BAD_REQUEST, DUPLICATE_ALIAS */
    titleForTable: (baseId: string, wanted: string | null, original: string) =>
      titleForCopy(context, baseId, wanted, original),
    openFieldToCopy: (actor: Actor, fieldId: string) => openFieldToCopy(context, actor, fieldId),
    /** The tables that lie in a base's own home, those in the trash included. For services. */
    async homeTables(baseId: string): Promise<Table[]> {
      const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
      const own = new Set(sources.filter(({ isOwn }) => isOwn).map(({ id }) => id))
      const all = [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))]
      return all.filter(({ sourceId }) => own.has(sourceId))
    },
    /** Tables and fields as entries of the log name them, those in the trash included. */
    logNames: (baseId: string, tableIds: readonly string[]): Promise<LogNames> =>
      readLogNames(kernel, store, baseId, tableIds),
    /** True where the field exists, in the trash or not. */
    hasField: async (fieldId: string): Promise<boolean> => (await store.findField(fieldId)) !== null,
    previewType: (actor: Actor, fieldId: string, type: FieldTypeName, options?: FieldOptions) =>
      previewType(context, actor, fieldId, type, options),
    /** What a formula that is being written gives, or all that is wrong with it. */
    async checkFormula(actor: Actor, draft: FormulaDraft): Promise<FormulaVerdict> {
      refuseUnstorable(draft)
      return checkFormulaDraft(context, actor, draft)
    },
    /** A formula that is being written as a field of its table, for reading what it would give. */
    async draftFormula(actor: Actor, draft: FormulaDraft): Promise<DraftedFormula> {
      refuseUnstorable(draft)
      return draftFormula(context, actor, draft)
    },
    dependents: (actor: Actor, target: DependentsOf): Promise<Dependent[]> =>
      dependents(context, actor, target),
    trashedFieldsOfBase: (actor: Actor, baseId: string) => trashedFieldsOfBase(context, actor, baseId),
    trashedFields: (actor: Actor, tableId: string) => trashedFields(context, actor, tableId),
  }
}

/** A table with its fields and all of its views. */
export async function schemaOf(context: SchemaContext, model: TableModel): Promise<TableSchema> {
  const { table, fields } = model
  const readOnlyReason = writeRefusal(model, await foreignSourceOf(context, table))
  return { table, fields, views: await context.views.ofTable(model), readOnlyReason }
}
