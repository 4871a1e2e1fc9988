import { eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table, View, ViewField, ViewKind } from '../../../src/core/model.ts'
import { canBeAsked } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { copyPlaces } from '../../../src/db/view-places.ts'
import { checkTitle, placeAt, type TableModel, uniqueTitle } from '../../schema/index.ts'
import {
  createLineId,
  defaultLine,
  fieldsOfView,
  type LineRow,
  liveOptions,
  namesRecords,
  openView,
  refuseLocked,
  type ViewRow,
  type ViewsContext,
  withFreshIds,
  withSortIds,
} from '../model/index.ts'
import { newOptions, stateOf, writeView } from '../settings/index.ts'

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
  description?: string | null
  meta?: Record<string, unknown>
  /** What its kind keeps; what is absent is as the kind's defaults have it. */
  options?: object
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
    id: createLineId(row.kind),
    viewId: row.id,
    ...defaultLine(field, row.kind, field.order),
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
 * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND for the copied one; BAD_REQUEST for options that do not go with the fields
 */
export async function createView(
  context: ViewsContext,
  actor: Actor,
  tableId: string,
  { title: wanted, kind, copyOf, lock, meta, options, description }: NewView,
): Promise<View> {
  const { schema, store, access } = context
  const { table } = await schema.load(tableId)
  await access.authorize(actor, 'view.create', table.baseId)
  const title = checkTitle('view', wanted)
  const viewId = await schema.apply(actor, table.baseId, async ({ tx, engine, now }) => {
    const others = await store.rowsOf(tableId)
    if (others.length >= MAX_VIEWS) throw badRequest(`A table can have up to ${MAX_VIEWS} views`)
    const source = copyOf === undefined ? undefined : others.find((view) => view.id === copyOf)
    if (copyOf !== undefined && !source) throw notFound('View', copyOf.slice(0, 64))
    const actorId = actor.kind === 'user' ? actor.id : null
    const order = Math.max(0, ...others.map((view) => view.order)) + 1
    const fresh = newRow({ tableId, title: uniqueTitle(title, others), kind, order, actorId, now })
    const model = await schema.load(tableId)
    const { fields } = model
    const row = {
      ...fresh,
      ...(source && copied(source, kind)),
      ...(lock && { lock }),
      ...(meta && { meta }),
      ...(description !== undefined && { description }),
    }
    const kept = row.options && liveOptions(model, row)
    if (kept === null || options) row.options = newOptions(model, kind, { ...kept, ...options })
    const lines = source
      ? copiedLines(model, source, kind, await store.linesOf(source.id))
      : firstLines(kind, fields)
    const own = lines.map((line) => ({ ...line, id: createLineId(kind), viewId: row.id }))
    const { dialect } = engine
    if (source && [source.kind, kind].every((each) => viewKind(each).hasManualOrder))
      await tx.run(dialect.render(copyPlaces(dialect, source.id, { viewId: row.id, tableId })))
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
 * @throws VIEW_NOT_FOUND; BAD_REQUEST for the default view; PERMISSION_DENIED for one that is locked or somebody
 *   else's
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
      refuseLocked(actor, row)
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

/** The fields of a new view: kinds with small cards begin with few. */
function firstLines(kind: View['kind'], fields: Field[]): ViewField[] {
  const ordered = namesRecords(kind) ? fields : fields.toSorted((a, b) => rankOf(a) - rankOf(b))
  const lines = ordered.map((field, index) =>
    defaultLine(field, kind, namesRecords(kind) ? field.order : index + 1),
  )
  const { shownAtFirst } = viewKind(kind)
  if (shownAtFirst === null) return lines
  const isDisplay = (line: ViewField) => fields.some(({ id, isDisplay }) => isDisplay && id === line.fieldId)
  const kept = new Set(lines.filter((line) => line.show && !isDisplay(line)).slice(0, shownAtFirst))
  return lines.map((line) => ({ ...line, show: isDisplay(line) || kept.has(line) }))
}

/** A form begins with what names the record. */
const rankOf = ({ isDisplay }: Field): number => Number(!isDisplay)

interface FreshView extends Pick<ViewRow, 'tableId' | 'title' | 'kind' | 'order'> {
  actorId: string | null
  now: string
}

const newRow = ({ actorId, now, ...view }: FreshView): ViewRow => ({
  id: createId('view'),
  ...view,
  isDefault: false,
  lock: 'collaborative',
  meta: {},
  rowHeight: 'short',
  frozen: 1,
  description: null,
  filter: null,
  sorts: [],
  showSystemFields: null,
  groups: null,
  coloring: null,
  options: null,
  hiddenFrom: null,
  createdBy: actorId,
  ownedBy: actorId,
  createdAt: now,
  updatedAt: now,
})

/**
 * What a copy takes from its source: all that says how records are shown, and from whom it is hidden, but neither the
 * title, nor the lock, nor whose it is. Filters and sorts get ids of their own.
 */
function copied(source: ViewRow, kind: ViewKind): Partial<ViewRow> {
  const {
    rowHeight,
    frozen,
    filter,
    sorts,
    groups,
    coloring,
    meta,
    description,
    showSystemFields,
    hiddenFrom,
  } = source
  return {
    rowHeight,
    frozen,
    groups,
    meta,
    description,
    showSystemFields,
    hiddenFrom,
    ...(source.kind === kind && { options: source.options }),
    coloring: coloring && withOwnRules(coloring),
    filter: filter && withFreshIds(filter),
    sorts: withSortIds(
      sorts.map(({ fieldId, direction }) => ({ fieldId, direction })),
      [],
    ),
  }
}

/** What a copy says of fields: what its source says, as far as it makes sense in a view of that kind. */
function copiedLines(model: TableModel, source: ViewRow, kind: ViewKind, lines: LineRow[]): ViewField[] {
  // Those of fields in the trash wait in the copy too.
  if (source.kind === kind) return lines
  return fieldsOfView(model, source.kind, lines).map((line, index) => {
    const field = model.field(line.fieldId)
    const isShown = line.show && (!collectsAnswers({ kind }) || (field !== undefined && canBeAsked(field)))
    return { ...line, order: index + 1, show: isShown, form: null }
  })
}

const withOwnRules = (coloring: RowColoring): RowColoring =>
  coloring.mode === 'select'
    ? coloring
    : {
        ...coloring,
        rules: coloring.rules.map((rule) => ({ ...rule, filter: withFreshIds(rule.filter) })),
      }
