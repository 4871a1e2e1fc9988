import { eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Field, Table, View } from '../../src/core/model.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { checkTitle, placeAt, uniqueTitle } from '../schema/index.ts'
import { openView, type ViewsContext } from './context.ts'
import { defaultLine, type LineRow, type ViewRow, withFreshIds, withSortIds } from './model.ts'
import { stateOf, writeView } from './update.ts'

/** Most views of one table. */
export const MAX_VIEWS = 200
/** Ids in one list: well within what every engine binds. */
const IDS_AT_ONCE = 500

/** A view as a caller asks for it. */
export interface NewView {
  title: string
  kind: View['kind']
  /** Another view of the table: what it shows, its filter and its sorts. */
  copyOf?: string
  lock?: View['lock']
  meta?: Record<string, unknown>
}

/** A view with all that it says of fields: what the log keeps of a deleted one. */
export interface StoredView {
  row: ViewRow
  lines: LineRow[]
}

/** The default view of a new table, which has the table's title and shows all of its fields. */
export function newTableStatements(
  { db, store }: ViewsContext,
  table: Table,
  fields: Field[],
  actorId: string | null,
): MetaStatement[] {
  const row = newRow({
    tableId: table.id,
    title: table.title,
    kind: 'grid',
    order: 1,
    actorId,
    now: table.createdAt,
  })
  const lines = fields.map((field) => ({
    id: createId('gridViewField'),
    viewId: row.id,
    ...defaultLine(field, field.order),
  }))
  return insertStatements({ db, store }, { row: { ...row, isDefault: true }, lines })
}

/** Removes the views of tables that are forgotten for good. */
export function removedTablesStatements({ db, store }: ViewsContext, tableIds: string[]): MetaStatement[] {
  const { views } = store
  const statements: MetaStatement[] = []
  for (let from = 0; from < tableIds.length; from += IDS_AT_ONCE) {
    statements.push(db.delete(views).where(inArray(views.tableId, tableIds.slice(from, from + IDS_AT_ONCE))))
  }
  return statements
}

/**
 * Adds a view, empty or as a copy; a title that is in use gets a suffix (`Grid_1`).
 *
 * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND for the copied one; NOT_IMPLEMENTED for other kinds than grids
 */
export async function createView(
  context: ViewsContext,
  actor: Actor,
  tableId: string,
  { title: wanted, kind, copyOf, lock, meta }: NewView,
): Promise<View> {
  const { schema, store, access } = context
  const { table } = await schema.load(tableId)
  await access.authorize(actor, 'view.create', table.baseId)
  if (kind !== 'grid')
    throw new AppError('NOT_IMPLEMENTED', `Views of the kind '${kind}' are not implemented`)
  const title = checkTitle('view', wanted)
  const viewId = await schema.apply(actor, table.baseId, async ({ now }) => {
    const others = await store.rowsOf(tableId)
    if (others.length >= MAX_VIEWS) throw badRequest(`A table can have ${MAX_VIEWS} views at most`)
    const source = copyOf === undefined ? undefined : others.find((view) => view.id === copyOf)
    if (copyOf !== undefined && !source) throw notFound('View', copyOf.slice(0, 64))
    const actorId = actor.kind === 'user' ? actor.id : null
    const order = Math.max(0, ...others.map((view) => view.order)) + 1
    const fresh = newRow({ tableId, title: uniqueTitle(title, others), kind, order, actorId, now })
    const row = { ...fresh, ...(source && copied(source)), ...(lock && { lock }), ...(meta && { meta }) }
    const { fields } = await schema.load(tableId)
    const lines = source
      ? await store.linesOf(source.id)
      : fields.map((field) => defaultLine(field, field.order))
    const own = lines.map((line) => ({ ...line, id: createId('gridViewField'), viewId: row.id }))
    return {
      statements: insertStatements(context, { row, lines: own }),
      entry: { kind: 'view.create', tableId, detail: { viewId: row.id, stored: { row, lines: own } } },
      tableIds: [tableId],
      result: row.id,
    }
  })
  return (await store.load(viewId)).view
}

/**
 * Deletes a view. There is no trash for views, but undo brings it back.
 *
 * @throws VIEW_NOT_FOUND; BAD_REQUEST for the default view
 */
export async function deleteView(context: ViewsContext, actor: Actor, viewId: string): Promise<void> {
  const { view } = await openView(context, actor, 'view.delete', viewId)
  if (view.isDefault) throw badRequest('The default view of a table cannot be deleted')
  await removeView(context, actor, viewId)
}

/** Takes a view's rows out, keeping them in the log. */
export async function removeView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  options?: { silent?: boolean },
): Promise<void> {
  const { db, schema, store } = context
  const { table } = await store.modelOf(viewId)
  await schema.apply(
    actor,
    table.baseId,
    async () => {
      const row = await store.findRow(viewId)
      if (!row) throw notFound('View', viewId)
      const { views, viewFields } = store
      return {
        statements: [
          db.delete(viewFields).where(eq(viewFields.viewId, viewId)),
          db.delete(views).where(eq(views.id, viewId)),
        ],
        entry: {
          kind: 'view.delete',
          tableId: table.id,
          detail: { viewId, stored: { row, lines: await store.linesOf(viewId) } satisfies StoredView },
        },
        tableIds: [table.id],
        result: undefined,
      }
    },
    options,
  )
}

/** Puts a deleted view's rows back, under another title where its own is in use by now. */
export async function bringBack(context: ViewsContext, actor: Actor, stored: StoredView): Promise<void> {
  const { schema, store } = context
  const { table } = await schema.load(stored.row.tableId)
  await schema.apply(
    actor,
    table.baseId,
    async () => {
      const others = await store.rowsOf(table.id)
      const isBack = others.some((view) => view.id === stored.row.id)
      const row = { ...stored.row, title: uniqueTitle(stored.row.title, others) }
      return {
        statements: isBack ? [] : insertStatements(context, { row, lines: stored.lines }),
        entry: { kind: 'view.create', tableId: table.id, detail: { viewId: row.id } },
        tableIds: [table.id],
        result: undefined,
      }
    },
    { silent: true },
  )
}

/**
 * Puts a view ahead of another of its table; null: at the end.
 *
 * @throws VIEW_NOT_FOUND for either
 */
export async function reorderView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  before: string | null,
): Promise<void> {
  const { model } = await openView(context, actor, 'view.update', viewId)
  if (before === viewId) return
  const others = (await context.store.rowsOf(model.table.id)).filter((view) => view.id !== viewId)
  const index = before === null ? others.length : others.findIndex((view) => view.id === before)
  if (before !== null && index < 0) throw notFound('View', before.slice(0, 64))
  const { order, moved } = placeAt(others, index)
  const { views } = context.store
  const also = moved.map(({ id, order }) => context.db.update(views).set({ order }).where(eq(views.id, id)))
  await writeView(context, actor, viewId, (row) => ({ ...stateOf(row), order }), { also })
}

function insertStatements(
  { db, store }: Pick<ViewsContext, 'db' | 'store'>,
  { row, lines }: StoredView,
): MetaStatement[] {
  const insertLines = () => db.insert(store.viewFields).values(lines)
  return [db.insert(store.views).values(row), ...(lines.length > 0 ? [insertLines()] : [])]
}

/** What a copy takes from its source; filters and sorts get ids of their own. */
function copied({ rowHeight, frozen, filter, sorts, meta }: ViewRow): Partial<ViewRow> {
  return {
    ...{ rowHeight, frozen, meta },
    filter: filter && withFreshIds(filter),
    sorts: withSortIds(
      sorts.map(({ fieldId, direction }) => ({ fieldId, direction })),
      [],
    ),
  }
}

interface FreshView extends Pick<ViewRow, 'tableId' | 'title' | 'kind' | 'order'> {
  actorId: string | null
  now: string
}

const newRow = ({ actorId, now, ...view }: FreshView): ViewRow => ({
  id: createId('view'),
  ...view,
  ...{ isDefault: false, lock: 'collaborative', meta: {}, rowHeight: 'short', frozen: 1, description: null },
  ...{ filter: null, sorts: [], showSystemFields: null, createdBy: actorId, createdAt: now, updatedAt: now },
})
