import { eq, inArray } from 'drizzle-orm'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table, View, ViewField, ViewKind } from '../../../src/core/model.ts'
import { isFormField } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import type { UndoWrite } from '../../../src/db/change-log/undoers.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { copyPlaces } from '../../../src/db/view-places.ts'
import { m } from '../../../src/messages.gen.ts'
import { checkTitle, orderAt, type TableModel, uniqueTitle } from '../../schema/index.ts'
import {
  createViewFieldId,
  defaultViewField,
  fieldsOfView,
  liveOptions,
  namesRecords,
  openView,
  refuseLocked,
  type ViewFieldRow,
  type ViewRow,
  type ViewsContext,
  withFreshIds,
  withSortIds,
} from '../model/index.ts'
import { newOptions, stateOf, writeView } from '../settings/index.ts'

/** Most views of one table. */
export const MAX_VIEWS = 200
/** Ids per statement, well below every engine's limit of bound parameters. */
const IDS_PER_STATEMENT = 500

export interface NewView {
  title: string
  kind: View['kind']
  /** A view of the same table whose fields, filter, sorts and settings are copied. */
  copyOf?: string
  lock?: View['lock']
  description?: string | null
  meta?: Record<string, unknown>
  /** Options of its kind; absent keys take the kind's defaults. */
  options?: object
}

/** A view with its field rows, as the change log stores a deleted view. */
export interface StoredView {
  row: ViewRow
  lines: ViewFieldRow[]
}

/** The statements that insert the default view of a new table: a grid with the table's title. */
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
    id: createViewFieldId(row.kind),
    viewId: row.id,
    ...defaultViewField(field, row.kind, field.order),
  }))
  return insertStatements({ db, store }, { row: { ...row, isDefault: true }, lines })
}

/** The statements that delete the views of permanently deleted tables. */
export function removedTablesStatements({ db, store }: ViewsContext, tableIds: string[]): MetaStatement[] {
  const { views } = store
  const statements: MetaStatement[] = []
  for (let from = 0; from < tableIds.length; from += IDS_PER_STATEMENT) {
    const ids = tableIds.slice(from, from + IDS_PER_STATEMENT)
    statements.push(db.delete(views).where(inArray(views.tableId, ids)))
  }
  return statements
}

/**
 * Creates a view, with default settings or as a copy. A title in use gets a suffix (`Grid_1`).
 *
 * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND for the copied view; BAD_REQUEST for options that do not fit the fields
 */
export async function createView(
  context: ViewsContext,
  actor: Actor,
  tableId: string,
  { title: requested, kind, copyOf, lock, meta, options, description }: NewView,
): Promise<View> {
  const { schema, store, access } = context
  const { table } = await schema.load(tableId)
  await access.authorize(actor, 'view.create', table.baseId)
  const title = checkTitle('view', requested)
  const viewId = await schema.apply(actor, table.baseId, async ({ tx, engine, now }) => {
    const others = await store.rowsOf(tableId)
    if (others.length >= MAX_VIEWS) throw badRequest(m.views_error_too_many_views({ max: MAX_VIEWS }))
    const source = copyOf === undefined ? undefined : others.find((view) => view.id === copyOf)
    if (copyOf !== undefined && !source) throw notFound('View', copyOf.slice(0, 64))
    const actorId = actorIdOf(actor)
    const order = Math.max(0, ...others.map((view) => view.order)) + 1
    const model = await schema.load(tableId)
    const row = {
      ...newRow({ tableId, title: uniqueTitle(title, others), kind, order, actorId, now }),
      ...(source && copiedSettings(source, kind)),
      ...(lock && { lock }),
      ...(meta && { meta }),
      ...(description !== undefined && { description }),
    }
    const copiedOptions = row.options && liveOptions(model, row)
    if (copiedOptions === null || options) {
      row.options = newOptions(model, kind, { ...copiedOptions, ...options })
    }
    const fields = source
      ? copiedFields(model, source, kind, await store.fieldRowsOf(source.id))
      : initialFields(kind, model.fields)
    const lines = fields.map((field) => ({ ...field, id: createViewFieldId(kind), viewId: row.id }))
    const { dialect } = engine
    if (source && [source.kind, kind].every((each) => viewKind(each).hasManualOrder))
      await tx.run(dialect.render(copyPlaces(dialect, source.id, { viewId: row.id, tableId })))
    return {
      statements: insertStatements(context, { row, lines }),
      entry: { kind: 'view.create', tableId, detail: { viewId: row.id, stored: { row, lines } } },
      tableIds: [tableId],
      result: row.id,
    }
  })
  return (await store.load(viewId)).view
}

/**
 * Deletes a view. There is no trash for views, but undo restores it.
 *
 * @throws VIEW_NOT_FOUND; BAD_REQUEST for the default view; PERMISSION_DENIED for a view that is locked or somebody
 *   else's
 */
export async function deleteView(context: ViewsContext, actor: Actor, viewId: string): Promise<void> {
  const { view } = await openView(context, actor, 'view.delete', viewId)
  if (view.isDefault) throw badRequest(m.views_error_delete_default())
  await removeView(context, actor, viewId)
}

/** Deletes a view's rows and stores them in the change log. */
export async function removeView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  write?: UndoWrite,
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
          detail: { viewId, stored: { row, lines: await store.fieldRowsOf(viewId) } satisfies StoredView },
        },
        tableIds: [table.id],
        result: undefined,
      }
    },
    write,
  )
}

/**
 * Restores a deleted view; its title gets a suffix if another view has it by now.
 *
 * @throws as `write.check`
 */
export async function restoreView(
  context: ViewsContext,
  actor: Actor,
  stored: StoredView,
  write: UndoWrite,
): Promise<void> {
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
    write,
  )
}

/**
 * Moves a view before another of its table, or to the end (null).
 *
 * @throws VIEW_NOT_FOUND for either view
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
  const { order, moved } = orderAt(others, index)
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

/** The fields of a new view. A form starts with the display field; kinds with cards show only a few fields. */
function initialFields(kind: View['kind'], fields: Field[]): ViewField[] {
  const ordered = namesRecords(kind)
    ? fields
    : fields.toSorted((a, b) => Number(b.isDisplay) - Number(a.isDisplay))
  const viewFields = ordered.map((field, index) =>
    defaultViewField(field, kind, namesRecords(kind) ? field.order : index + 1),
  )
  const { shownAtFirst } = viewKind(kind)
  if (shownAtFirst === null) return viewFields
  const displayId = fields.find(({ isDisplay }) => isDisplay)?.id
  const others = viewFields.filter(({ show, fieldId }) => show && fieldId !== displayId)
  const shown = new Set([displayId, ...others.slice(0, shownAtFirst).map(({ fieldId }) => fieldId)])
  return viewFields.map((field) => ({ ...field, show: shown.has(field.fieldId) }))
}

type NewRow = Pick<ViewRow, 'tableId' | 'title' | 'kind' | 'order'> & { actorId: string | null; now: string }

const newRow = ({ actorId, now, ...view }: NewRow): ViewRow => ({
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

/** The settings of a copy: all but title, lock and owner. Filters and sorts get new ids. */
function copiedSettings(source: ViewRow, kind: ViewKind): Partial<ViewRow> {
  const { filter, sorts, coloring } = source
  return {
    rowHeight: source.rowHeight,
    frozen: source.frozen,
    groups: source.groups,
    meta: source.meta,
    description: source.description,
    showSystemFields: source.showSystemFields,
    hiddenFrom: source.hiddenFrom,
    ...(source.kind === kind && { options: source.options }),
    coloring: coloring && withNewRuleIds(coloring),
    filter: filter && withFreshIds(filter),
    sorts: withSortIds(
      sorts.map(({ fieldId, direction }) => ({ fieldId, direction })),
      [],
    ),
  }
}

/** The fields of a copy. From a view of another kind, only visibility, order and width are copied. */
function copiedFields(model: TableModel, source: ViewRow, kind: ViewKind, rows: ViewFieldRow[]): ViewField[] {
  // Includes the rows of fields in the trash, which apply again once the fields are restored.
  if (source.kind === kind) return rows
  return fieldsOfView(model, source.kind, rows).map((viewField, index) => {
    const field = model.field(viewField.fieldId)
    const canShow = !collectsAnswers({ kind }) || (field !== undefined && isFormField(field))
    return { ...viewField, order: index + 1, show: viewField.show && canShow, form: null }
  })
}

const withNewRuleIds = (coloring: RowColoring): RowColoring =>
  coloring.mode === 'select'
    ? coloring
    : {
        ...coloring,
        rules: coloring.rules.map((rule) => ({ ...rule, filter: withFreshIds(rule.filter) })),
      }
