import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { type Filter, isGroup } from '../../src/core/filters/index.ts'
import type { View, ViewKind } from '../../src/core/model.ts'
import {
  type BaseRight,
  type BaseRole,
  HIDEABLE_ROLES,
  type HideableRole,
  isListedFor,
} from '../../src/core/roles.ts'
import { viewKind } from '../../src/core/views/index.ts'
import { publicView, viewsForVisitors } from '../../src/core/views/public-view.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
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
  openWithFields,
  placeNewField,
  placeReverseLink,
  requireViewField,
} from './fields/index.ts'
import {
  createView,
  createViewCopies,
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
  type ViewWithFields,
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
  viewsOfTables,
} from './settings/index.ts'

/** Operators that distinguish NULL from empty text; `blank` matches both. */
const NULL_OPERATORS = new Set(['null', 'notnull', 'empty', 'notempty'])

const distinguishesNull = (filter: Filter): boolean =>
  isGroup(filter) ? filter.children.some(distinguishesNull) : NULL_OPERATORS.has(filter.operator)

/** The operations on views, see `createViewsService`. */
export type ViewsService = ReturnType<typeof createViewsService>

/** Reads and changes views. Functions with an actor check its rights; those without leave that to the caller. */
export function createViewsService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access' | 'shares'>,
  schema: SchemaService,
) {
  const { access } = auth
  const store = createViewsStore(kernel, schema, auth.shares)
  const context: ViewsContext = { db: kernel.meta.db, access, schema, store }
  const copies = createViewCopies(kernel)
  const tableViews: TableViews = {
    ofTable: store.ofModel,
    forNewTable: (table, fields, actorId) => newTableStatements(context, table, fields, actorId),
    forNewField: (model, field, position, actor) => placeNewField(context, model, field, position, actor),
    forReverse: (model, field) => placeReverseLink(context, model, field),
    forRenamedChoices: (model, fieldId, titles) => renameChoices(context, model, fieldId, titles),
    forCopies: copies.forCopies,
    forRemovedTables: (tableIds) => removedTablesStatements(context, tableIds),
  }
  registerViewsUndo(context, kernel)

  /** The public links of a base's views, by view id. */
  async function sharesOf(baseId: string): Promise<ReadonlyMap<string, ViewShare>> {
    const rows = await auth.shares.ofBase(baseId)
    return new Map(rows.filter(({ kind }) => kind === 'view').map((row) => [row.targetId, viewShare(row)]))
  }

  /** The views of a table in their order. */
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
   * A view with the options and groups of live fields.
   *
   * @throws VIEW_NOT_FOUND, also if the view is not of `kind`
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
    tableViews,
    rowsForCopy: copies.rowsForCopy,
    insertForCopy: copies.insertForCopy,
    /** A view as clients see it, cached. @throws VIEW_NOT_FOUND */
    load: async (viewId: string): Promise<View> => (await store.load(viewId)).view,
    /**
     * False for a view returned by `load` that shows more records than intended, because a field of its filter or of its
     * hidden stacks is deleted or broken.
     */
    hasIntactFilter: store.hasIntactFilter,
    /** Pairs of id and title, for the history; deleted views are absent. */
    titlesOf: store.titlesOf,
    /** The views of a table in their order. @throws TABLE_NOT_FOUND */
    ofTable: async (tableId: string): Promise<View[]> => store.ofModel(await schema.load(tableId)),

    /** A view's row and table. @throws VIEW_NOT_FOUND */
    async openRow(
      actor: Actor,
      right: BaseRight,
      viewId: string,
    ): Promise<{ row: ViewRow; model: TableModel }> {
      const { model } = await openView(context, actor, right, viewId)
      const row = await store.findRow(viewId)
      if (!row) throw notFound('View', viewId)
      return { row: actor.kind === 'share' ? viewsForVisitors(model.fields).conditions(row) : row, model }
    },
    /**
     * True if a filter in the base distinguishes NULL from empty text. The base setting that offers such operators can
     * then not be switched off.
     */
    async hasNullFilters(actor: Actor, baseId: string): Promise<boolean> {
      for (const { id } of await schema.tables(actor, baseId)) {
        const found = await store.ofModel(await schema.load(id))
        if (found.some(({ filter }) => filter !== null && distinguishesNull(filter))) return true
      }
      return false
    },
    /**
     * Refuses a change of a view's manual record order that the kind or the lock of the view forbids. Does not check the
     * right to change records.
     *
     * @param rearranges false for new records, which a locked view accepts
     * @throws VIEW_NOT_FOUND, also for a view of another table; BAD_REQUEST for a kind without manual order;
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
      if (!viewKind(row.kind).hasManualOrder)
        throw badRequest(m.records_error_no_manual_order({ view: row.title }))
      if (rearranges) refuseLocked(actor, row)
    },
    openTable: schema.openTable,
    openShown,
    shownOfTable,
    /** The views of a table in their order. @throws TABLE_NOT_FOUND */
    async listShown(actor: Actor, tableId: string): Promise<ShownView[]> {
      const model = await schema.openTable(actor, 'view.list', tableId)
      return shownOfTable(model, { forVisitors: actor.kind === 'share' })
    },
    /** The id of the base with this id or title. @throws BASE_NOT_FOUND */
    async openBase(actor: Actor, right: BaseRight, idOrTitle: string): Promise<string> {
      const { id } = await schema.resolveBase(actor, idOrTitle)
      await access.authorize(actor, right, id)
      return id
    },
    /** The views of all tables of a base, including those hidden from some roles. */
    async listShownOfBase(actor: Actor, baseId: string): Promise<ShownView[]> {
      const shares = await sharesOf(baseId)
      const found: ShownView[] = []
      for (const row of await viewsOfBase(context, actor, baseId)) {
        found.push(shownView(await schema.load(row.tableId), row, shares.get(row.id)))
      }
      return found
    },
    /** The views of a base that the actor's role sees, by their titles. @throws BASE_NOT_FOUND */
    async titlesOfBase(actor: Actor, baseId: string): Promise<ViewTitle[]> {
      const rows = await viewsOfBase(context, actor, baseId)
      const role = await access.baseRole(actor, baseId)
      return titlesFor(rows, () => role)
    },
    /**
     * The views of tables that a role sees, by their titles. Does not check access.
     *
     * @param roles by the ids of the tables
     */
    async titlesIn(roles: ReadonlyMap<string, BaseRole>): Promise<ViewTitle[]> {
      const rows = await viewsOfTables(context, [...roles.keys()])
      return titlesFor(rows, (tableId) => roles.get(tableId) ?? null)
    },
    /** A view for visitors of its public link. @throws VIEW_NOT_FOUND */
    openShared: (viewId: string, share: Pick<ShareRow, 'id' | 'settings'>) =>
      openSharedView(store, viewId, share),
    /** A view with a row for each of its fields. @throws VIEW_NOT_FOUND */
    async openWithFields(actor: Actor, right: BaseRight, viewId: string): Promise<ViewWithFields> {
      const { row, model, fields } = await openWithFields(context, actor, right, viewId)
      const shown = shownView(model, row)
      if (actor.kind !== 'share') return { shown, fields }
      return { shown: forVisitors(shown), fields: fields.map(viewsForVisitors(model.fields).question) }
    },
    requireViewField: (id: string, viewId?: string) => requireViewField(context, id, viewId),
    /** The id of the view that has a filter node or sort of this id. @throws GENERIC_NOT_FOUND */
    async viewHolding(kind: 'Filter' | 'Sort', id: string): Promise<string> {
      const viewId = await store.findViewHolding(kind === 'Filter' ? 'filter' : 'sorts', id)
      if (viewId === null) throw notFound(kind, id.slice(0, 64))
      return viewId
    },
    /** Updates a view, see `changeView`. */
    async change(
      actor: Actor,
      viewId: string,
      rights: BaseRight[],
      decide: (row: ViewRow, model: TableModel) => ViewPatch,
    ): Promise<void> {
      await changeView(context, actor, viewId, rights, decide)
    },

    /** The options that a new view of a kind starts with: the defaults, or those of the copied view. */
    async firstOptions(model: TableModel, kind: ViewKind, copyOf?: string): Promise<object> {
      const source = copyOf === undefined ? null : await store.findRow(copyOf)
      if (source && source.kind === kind && source.tableId === model.table.id)
        return liveOptions(model, source)
      return newOptions(model, kind)
    },

    /** @throws VIEW_NOT_FOUND */
    async get(actor: Actor, viewId: string): Promise<View> {
      const { view, model } = await openView(context, actor, 'view.list', viewId)
      return actor.kind === 'share' ? viewsForVisitors(model.fields).view(view) : view
    },
    async create(actor: Actor, tableId: string, input: NewView): Promise<View> {
      refuseUnstorable(input)
      return createView(context, actor, tableId, input)
    },
    /** Copies a view under the next free title, such as `Grid_1`. @throws VIEW_NOT_FOUND */
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
    /** Sets the roles that a view is hidden from. @throws as `setVisibility` */
    async hide(actor: Actor, viewId: string, from: readonly HideableRole[]): Promise<View> {
      const { model } = await openView(context, actor, 'view.update', viewId)
      const hidden = Object.fromEntries(HIDEABLE_ROLES.map((role) => [role, from.includes(role)]))
      await setVisibility(context, actor, model.table.baseId, [{ viewId, hidden }])
      return (await store.load(viewId)).view
    },
    setVisibility: (actor: Actor, baseId: string, rules: readonly VisibilityRule[]): Promise<void> =>
      setVisibility(context, actor, baseId, rules),
    reorder: (actor: Actor, viewId: string, before: string | null): Promise<void> =>
      reorderView(context, actor, viewId, before),
    delete: (actor: Actor, viewId: string): Promise<void> => deleteView(context, actor, viewId),
  }
}

/**
 * A view for visitors of its public link: its fields, filter and sorts cover only the fields that it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
async function openSharedView(
  store: ViewsStore,
  viewId: string,
  share: Pick<ShareRow, 'id' | 'settings'>,
): Promise<ViewWithFields> {
  const { view, model: fullModel } = await store.load(viewId)
  const found = await store.findRow(viewId)
  if (!found) throw notFound('View', viewId)
  const model = narrowModel(fullModel, view)
  const { fields: publicFields, filter, sorts } = publicView(view, model.fields)
  // Owners and the metadata of other clients are for members only.
  const row: ViewRow = { ...found, meta: {}, createdBy: null, ownedBy: null, filter, sorts }
  const stored = new Map((await store.fieldRowsOf(viewId)).map((field) => [field.fieldId, field]))
  const forms = new Map(publicFields.map(({ fieldId, form }) => [fieldId, form]))
  const fields = fieldsOfView(model, row.kind, [...stored.values()]).map((field) => ({
    ...field,
    id: stored.get(field.fieldId)?.id ?? '',
    viewId,
    form: forms.get(field.fieldId) ?? null,
  }))
  const visible = forVisitors(shownView(model, row))
  return { shown: { ...visible, share: viewShare({ ...share, passwordHash: null }) }, fields }
}

/** @property meta without the rest of it, which may be long */
interface ViewTitle extends Pick<ViewRow, 'id' | 'tableId' | 'title' | 'kind' | 'isDefault'> {
  meta: { icon?: string }
}

/** The views that a role sees in its lists. @param roleIn the role in the base of a table */
const titlesFor = (rows: readonly ViewRow[], roleIn: (tableId: string) => BaseRole | null): ViewTitle[] =>
  rows
    .filter(({ tableId, hiddenFrom }) => isListedFor(roleIn(tableId), { hiddenFrom: hiddenFrom ?? [] }))
    .map(({ id, tableId, title, kind, isDefault, meta }) => ({
      id,
      tableId,
      title,
      kind,
      isDefault,
      meta: typeof meta.icon === 'string' ? { icon: meta.icon } : {},
    }))
