import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { type Filter, isGroup } from '../../src/core/filters/index.ts'
import type { View, ViewKind } from '../../src/core/model.ts'
import { type BaseRight, HIDEABLE_ROLES, type HideableRole } from '../../src/core/roles.ts'
import { viewKind } from '../../src/core/views/index.ts'
import { publicView, withPublicOptions } from '../../src/core/views/public-view.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService, ShareRow } from '../auth/index.ts'
import {
  narrowModel,
  refuseUnstorable,
  type SchemaService,
  type TableModel,
  type TableViews,
} from '../schema/index.ts'
import {
  type Arrangement,
  arrange,
  openWithLines,
  placeNewField,
  placeReverse,
  requireLine,
} from './fields/index.ts'
import {
  createCopiedRows,
  createView,
  deleteView,
  type NewView,
  newTableStatements,
  registerViewsUndo,
  removedTablesStatements,
  reorderView,
} from './lifecycle/index.ts'
import {
  createViewsStore,
  fieldsOfView,
  forVisitors,
  liveOptions,
  openView,
  refuseLocked,
  type ShownView,
  shownView,
  type ViewRow,
  type ViewShare,
  type ViewsContext,
  type ViewsStore,
  type ViewWithLines,
  viewShare,
} from './model/index.ts'
import {
  changeView,
  newOptions,
  renameChoices,
  setVisibility,
  updateView,
  type ViewPatch,
  type VisibilityRule,
  viewsOfBase,
} from './settings/index.ts'

/** Operators that hold NULL and the empty text apart, where `blank` takes both. */
const NULL_OPERATORS = new Set(['null', 'notnull', 'empty', 'notempty'])

const tellsNullApart = (filter: Filter): boolean =>
  isGroup(filter) ? filter.children.some(tellsNullApart) : NULL_OPERATORS.has(filter.operator)

/** The operations on views, see `createViewsService`. */
export type ViewsService = ReturnType<typeof createViewsService>

/** Views: which fields of a table are shown, in which order and width, filtered and sorted by what. */
export function createViewsService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access' | 'shares'>,
  schema: SchemaService,
) {
  const { access } = auth
  const store = createViewsStore(kernel, schema, auth.shares)
  const context: ViewsContext = { db: kernel.meta.db, access, schema, store }
  const copies = createCopiedRows(kernel)
  const tableViews: TableViews = {
    ofTable: store.ofModel,
    forNewTable: (table, fields, actorId) => newTableStatements(context, table, fields, actorId),
    forNewField: (model, field, place, actor) => placeNewField(context, model, field, place, actor),
    forReverse: (model, field) => placeReverse(context, model, field),
    forRenamedChoices: (model, fieldId, renamed) => renameChoices(context, model, fieldId, renamed),
    forCopies: copies.forCopies,
    forRemovedTables: (tableIds) => removedTablesStatements(context, tableIds),
  }
  registerViewsUndo(context, kernel)

  /** The public links of a base's views, by view. */
  async function sharesOf(baseId: string): Promise<ReadonlyMap<string, ViewShare>> {
    const rows = await auth.shares.ofBase(baseId)
    return new Map(rows.filter(({ kind }) => kind === 'view').map((row) => [row.targetId, viewShare(row)]))
  }

  /** Every view of a table in its order. The caller checks who may see them. */
  async function shownOfTable(
    model: TableModel,
    options: { forVisitors?: boolean } = {},
  ): Promise<ShownView[]> {
    const shares = await sharesOf(model.table.baseId)
    const rows = await store.rowsOf(model.table.id)
    const shown = rows.map((row) => shownView(model, row, shares.get(row.id)))
    return options.forVisitors ? shown.map(forVisitors) : shown
  }

  /**
   * A view with the options and groups of live fields, for someone who holds the right.
   *
   * @throws VIEW_NOT_FOUND, also where `kind` names another kind
   */
  async function openShown(
    actor: Actor,
    right: BaseRight,
    viewId: string,
    kind?: ViewKind,
  ): Promise<ShownView> {
    const { view, model } = await store.load(viewId)
    if (kind !== undefined && view.kind !== kind) throw notFound('View', viewId)
    await access.authorize(actor, right, model.table.baseId)
    const row = await store.findRow(viewId)
    if (!row) throw notFound('View', viewId)
    const shares = await sharesOf(model.table.baseId)
    const shown = shownView(model, row, shares.get(viewId))
    return actor.kind === 'share' ? forVisitors(shown) : shown
  }

  return {
    /** For the schema module, see there. */
    tableViews,
    rowsForCopy: copies.rowsForCopy,
    insertForCopy: copies.insertForCopy,
    // Internal: without a check of access, for the modules that follow.

    /** A view as everyone sees it, from memory where it is known. @throws VIEW_NOT_FOUND */
    load: async (viewId: string): Promise<View> => (await store.load(viewId)).view,
    /** False for a view, as `load` gives it, that shows more than its filter was made for: a field of it is gone. */
    hasWholeFilter: store.hasWholeFilter,
    /** Titles of views by id, for the history; views that were deleted are absent. */
    titlesOf: store.titlesOf,
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
    /**
     * Passes where the actor may put records of a table into the manual order of a view. Whether they may change records
     * at all is not asked here.
     *
     * @param rearranges false for new records, which the lock of a view does not keep out
     *
     * @throws VIEW_NOT_FOUND, also for a view of another table; BAD_REQUEST for a kind without such an order;
     *   PERMISSION_DENIED for a view that is locked or somebody else's
     */
    async requireManualOrder(
      actor: Actor,
      tableId: string,
      viewId: string,
      rearranges: boolean,
    ): Promise<void> {
      const row = await store.findRow(viewId)
      if (row?.tableId !== tableId) throw notFound('View', viewId.slice(0, 64))
      if (!viewKind(row.kind).hasManualOrder) throw badRequest(`View "${row.title}" has no manual order`)
      if (rearranges) refuseLocked(actor, row)
    },
    openTable: schema.openTable,
    openShown,
    shownOfTable,
    /** Every view of a table, for someone who may see them. @throws TABLE_NOT_FOUND */
    async listShown(actor: Actor, tableId: string): Promise<ShownView[]> {
      const model = await schema.openTable(actor, 'view.list', tableId)
      return shownOfTable(model, { forVisitors: actor.kind === 'share' })
    },
    /** The base of an id or title, for someone who holds the right. @throws BASE_NOT_FOUND */
    async openBase(actor: Actor, right: BaseRight, idOrTitle: string): Promise<string> {
      const { id } = await schema.resolveBase(actor, idOrTitle)
      await access.authorize(actor, right, id)
      return id
    },
    /** Every view of a base that the actor may see, with those that are hidden from some. */
    async listShownOfBase(actor: Actor, baseId: string): Promise<ShownView[]> {
      const shares = await sharesOf(baseId)
      const found: ShownView[] = []
      for (const row of await viewsOfBase(context, actor, baseId)) {
        found.push(shownView(await schema.load(row.tableId), row, shares.get(row.id)))
      }
      return found
    },
    /** A view for visitors of its public link. The caller checks the link. @throws VIEW_NOT_FOUND */
    openShared: (viewId: string, share: Pick<ShareRow, 'id' | 'settings'>) =>
      openSharedView(store, viewId, share),
    /** A view with a line for each of its fields. @throws VIEW_NOT_FOUND */
    async openWithLines(actor: Actor, right: BaseRight, viewId: string): Promise<ViewWithLines> {
      const { row, model, lines } = await openWithLines(context, actor, right, viewId)
      const shown = shownView(model, row)
      return { shown: actor.kind === 'share' ? forVisitors(shown) : shown, lines }
    },
    requireLine: (lineId: string, viewId?: string) => requireLine(context, lineId, viewId),
    /** The view that keeps the filter or sort of an id. @throws GENERIC_NOT_FOUND */
    async holderOf(kind: 'Filter' | 'Sort', id: string): Promise<string> {
      const viewId = await store.findHolder(kind === 'Filter' ? 'filter' : 'sorts', id)
      if (viewId === null) throw notFound(kind, id.slice(0, 64))
      return viewId
    },
    /** Changes a view from what it is at its turn, for someone who holds the rights. */
    async change(
      actor: Actor,
      viewId: string,
      rights: BaseRight[],
      decide: (row: ViewRow, model: TableModel) => ViewPatch,
    ): Promise<void> {
      await changeView(context, actor, viewId, rights, decide)
    },

    /** What a new view of a kind keeps before anything is said of it: the defaults, or what its source keeps. */
    async firstOptions(model: TableModel, kind: ViewKind, copyOf?: string): Promise<object> {
      const source = copyOf === undefined ? null : await store.findRow(copyOf)
      if (source && source.kind === kind && source.tableId === model.table.id)
        return liveOptions(model, source)
      return newOptions(model, kind)
    },

    // Operations.

    /** @throws VIEW_NOT_FOUND */
    async get(actor: Actor, viewId: string): Promise<View> {
      const { view } = await openView(context, actor, 'view.list', viewId)
      return actor.kind === 'share' ? withPublicOptions(view) : view
    },
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
    async arrange(actor: Actor, viewId: string, fields: Arrangement[]): Promise<View> {
      refuseUnstorable(fields)
      return arrange(context, actor, viewId, fields)
    },
    /** Says which roles a view is hidden from. @throws VIEW_NOT_FOUND, and as `setVisibility` */
    async hide(actor: Actor, viewId: string, from: readonly HideableRole[]): Promise<View> {
      const { model } = await openView(context, actor, 'view.update', viewId)
      const hidden = Object.fromEntries(HIDEABLE_ROLES.map((role) => [role, from.includes(role)]))
      await setVisibility(context, actor, model.table.baseId, [{ viewId, hidden }])
      return (await store.load(viewId)).view
    },
    /** The same of any number of views of a base. @throws as the function that it calls */
    setVisibility: (actor: Actor, baseId: string, rules: readonly VisibilityRule[]): Promise<void> =>
      setVisibility(context, actor, baseId, rules),
    reorder: (actor: Actor, viewId: string, before: string | null): Promise<void> =>
      reorderView(context, actor, viewId, before),
    delete: (actor: Actor, viewId: string): Promise<void> => deleteView(context, actor, viewId),
  }
}

/**
 * A view for visitors of its public link: its lines, filter and sorts cover only the fields that it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
async function openSharedView(
  store: ViewsStore,
  viewId: string,
  share: Pick<ShareRow, 'id' | 'settings'>,
): Promise<ViewWithLines> {
  const { view, model: whole } = await store.load(viewId)
  const found = await store.findRow(viewId)
  if (!found) throw notFound('View', viewId)
  const model = narrowModel(whole, view)
  const { fields, filter, sorts } = publicView(view, model.fields)
  // Who made it, and what other clients keep with it, is for members.
  const row: ViewRow = { ...found, meta: {}, createdBy: null, ownedBy: null, filter, sorts }
  const kept = new Map((await store.linesOf(viewId)).map((line) => [line.fieldId, line]))
  const forms = new Map(fields.map((line) => [line.fieldId, line.form]))
  const lines = fieldsOfView(model, row.kind, [...kept.values()]).map((line) => ({
    ...line,
    id: kept.get(line.fieldId)?.id ?? '',
    viewId,
    form: forms.get(line.fieldId) ?? null,
  }))
  const visible = forVisitors(shownView(model, row))
  return { shown: { ...visible, share: viewShare({ ...share, passwordHash: null }) }, lines }
}
