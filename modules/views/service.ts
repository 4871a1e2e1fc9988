import type { Actor } from '../../src/core/actor.ts'
import { notFound } from '../../src/core/errors.ts'
import { type Filter, isGroup } from '../../src/core/filters/index.ts'
import type { View } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { refuseUnstorable, type SchemaService, type TableModel } from '../schema/index.ts'
import { type Arrangement, arrange, placeNewField } from './arrange.ts'
import { openView, type ViewsContext } from './context.ts'
import {
  createView,
  deleteView,
  type NewView,
  newTableStatements,
  removedTablesStatements,
  reorderView,
} from './life.ts'
import { openWithLines, requireLine } from './lines.ts'
import type { ViewRow } from './model.ts'
import { presentView } from './present.ts'
import { createViewsStore } from './store.ts'
import { registerViewsUndo } from './undo.ts'
import { changeView, updateView, type ViewPatch } from './update.ts'

/** Operators that hold NULL and the empty text apart, where `blank` takes both. */
const NULL_OPERATORS = new Set(['null', 'notnull', 'empty', 'notempty'])

const tellsNullApart = (filter: Filter): boolean =>
  isGroup(filter) ? filter.children.some(tellsNullApart) : NULL_OPERATORS.has(filter.operator)

/** The operations on views, see `createViewsService`. */
export type ViewsService = ReturnType<typeof createViewsService>

/** Views: which fields of a table are shown, in which order and width, filtered and sorted by what. */
export function createViewsService(kernel: Kernel, auth: Pick<AuthService, 'access'>, schema: SchemaService) {
  const { access } = auth
  const store = createViewsStore(kernel, schema)
  const context: ViewsContext = { db: kernel.meta.db, access, schema, store }
  schema.attachViews({
    ofTable: store.ofModel,
    present: async ({ table }, options) =>
      (await store.rowsOf(table.id)).map((row) => presentView(table, row, options)),
    forNewTable: (table, fields, actorId) => newTableStatements(context, table, fields, actorId),
    forNewField: (model, field, place) => placeNewField(context, model, field, place),
    forRemovedTables: (tableIds) => removedTablesStatements(context, tableIds),
  })
  registerViewsUndo(context, kernel)

  return {
    // Internal: without a check of access, for the modules that follow.

    /** A view as everyone sees it, from memory where it is known. @throws VIEW_NOT_FOUND */
    load: async (viewId: string): Promise<View> => (await store.load(viewId)).view,
    /** The views of a table in their order. @throws TABLE_NOT_FOUND */
    ofTable: async (tableId: string): Promise<View[]> => store.ofModel(await schema.load(tableId)),

    // For REST, which names what views are made of by ids of their own.

    /** A view's row and table, for someone who holds the right. @throws VIEW_NOT_FOUND */
    async openRow(
      actor: Actor,
      right: BaseRight,
      viewId: string,
    ): Promise<{ row: ViewRow; model: TableModel }> {
      const { model } = await openView(context, actor, right, viewId)
      const row = await store.findRow(viewId)
      if (!row) throw notFound('View', viewId)
      return { row, model }
    },
    /**
     * True where a view of the base tells empty text from none: a base with such filters cannot take
     * back the setting that offers them.
     */
    async hasNullFilters(actor: Actor, baseId: string): Promise<boolean> {
      for (const { id } of await schema.tables(actor, baseId)) {
        const found = await store.ofModel(await schema.load(id))
        if (found.some(({ filter }) => filter !== null && tellsNullApart(filter))) return true
      }
      return false
    },
    rowsOf: store.rowsOf,
    openTable: schema.openTable,
    openWithLines: (actor: Actor, right: BaseRight, viewId: string) =>
      openWithLines(context, actor, right, viewId),
    requireLine: (lineId: string, viewId?: string) => requireLine(context, lineId, viewId),
    /** The view that keeps the filter or sort of an id. @throws GENERIC_NOT_FOUND */
    async holderOf(kind: 'Filter' | 'Sort', id: string): Promise<string> {
      const viewId = await store.findHolder(kind === 'Filter' ? 'filter' : 'sorts', id)
      if (viewId === null) throw notFound(kind, id.slice(0, 64))
      return viewId
    },
    /** Changes a view's filter or sorts from what they are at its turn. */
    async change(
      actor: Actor,
      viewId: string,
      decide: (row: ViewRow, model: TableModel) => Pick<ViewPatch, 'filter' | 'sorts'>,
    ): Promise<void> {
      await changeView(context, actor, viewId, ['view.arrange'], decide)
    },

    // Operations.

    /** @throws TABLE_NOT_FOUND */
    async list(actor: Actor, tableId: string): Promise<View[]> {
      const model = await schema.load(tableId)
      await access.authorize(actor, 'view.list', model.table.baseId)
      return store.ofModel(model)
    },
    /** @throws VIEW_NOT_FOUND */
    get: async (actor: Actor, viewId: string): Promise<View> =>
      (await openView(context, actor, 'view.list', viewId)).view,
    async create(actor: Actor, tableId: string, input: NewView): Promise<View> {
      refuseUnstorable(input)
      return createView(context, actor, tableId, input)
    },
    /** A copy beside the original: `Grid_1`. @throws VIEW_NOT_FOUND */
    async duplicate(actor: Actor, viewId: string): Promise<View> {
      const { view } = await openView(context, actor, 'view.create', viewId)
      return createView(context, actor, view.tableId, { title: view.title, kind: view.kind, copyOf: viewId })
    },
    async update(actor: Actor, viewId: string, patch: ViewPatch): Promise<View> {
      refuseUnstorable(patch)
      return updateView(context, actor, viewId, patch)
    },
    arrange: (actor: Actor, viewId: string, fields: Arrangement[]): Promise<View> =>
      arrange(context, actor, viewId, fields),
    reorder: (actor: Actor, viewId: string, before: string | null): Promise<void> =>
      reorderView(context, actor, viewId, before),
    delete: (actor: Actor, viewId: string): Promise<void> => deleteView(context, actor, viewId),
  }
}
