import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import { checkFilter, type Filter, fieldsOf } from '../../src/core/filters/index.ts'
import type { RowHeight, Sort, View } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { checkTitle, isTitleTaken, type TableModel } from '../schema/index.ts'
import { openView, requireField, type ViewsContext } from './context.ts'
import { prune, type ViewRow, withFilterIds, withSortIds } from './model.ts'

/** What an update of a view may change. */
export interface ViewPatch {
  title?: string
  rowHeight?: RowHeight
  frozen?: number
  filter?: Filter | null
  sorts?: Sort[]
  meta?: Record<string, unknown>
  lock?: View['lock']
  order?: number
  description?: string | null
  showSystemFields?: boolean | null
}

/** The part of a view that the log keeps on both sides of an update. */
export type ViewState = Pick<
  ViewRow,
  | 'title'
  | 'description'
  | 'rowHeight'
  | 'frozen'
  | 'filter'
  | 'sorts'
  | 'meta'
  | 'lock'
  | 'order'
  | 'showSystemFields'
>

/** How a view shows its records is for editors; what it is called, and who may change it, for creators. */
const ARRANGING: ReadonlySet<string> = new Set(['rowHeight', 'frozen', 'filter', 'sorts'])

/**
 * Changes a view: only what the patch names.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; INVALID_FILTER and FILTER_VERIFICATION_FAILED for a filter
 *   that does not go with the fields; DUPLICATE_ALIAS for a title that another view of the table has
 */
export async function updateView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  patch: ViewPatch,
): Promise<View> {
  return changeView(context, actor, viewId, rightsFor(patch), (row) =>
    patch.filter === undefined ? patch : { ...patch, filter: withFilterIds(patch.filter, row.filter) },
  )
}

function rightsFor(patch: ViewPatch): BaseRight[] {
  const keys = Object.keys(patch)
  const rights = new Set(keys.map((key): BaseRight => (ARRANGING.has(key) ? 'view.arrange' : 'view.update')))
  return rights.size === 0 ? ['view.arrange'] : [...rights]
}

/**
 * Changes a view by what `decide` makes of it at its turn, so that two who add a sort at once both do.
 *
 * @throws as `updateView`
 */
export async function changeView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  rights: BaseRight[],
  decide: (row: ViewRow, model: TableModel) => ViewPatch,
): Promise<View> {
  await openView(context, actor, rights, viewId)
  await writeView(context, actor, viewId, (row, model) => {
    const patch = decide(row, model)
    const state: ViewState = { ...stateOf(row), ...(patch as Partial<ViewState>) }
    if (patch.title !== undefined) state.title = checkTitle('view', patch.title)
    if (patch.filter !== undefined) state.filter = checkedFilter(model, patch.filter, row.filter)
    if (patch.sorts !== undefined) state.sorts = checkedSorts(model, patch.sorts, row.sorts)
    return state
  })
  return (await context.store.load(viewId)).view
}

/** Writes what `decide` makes of the view's state, with a line in the log; `also` goes along. */
export async function writeView(
  { db, schema, store }: ViewsContext,
  actor: Actor,
  viewId: string,
  decide: (row: ViewRow, model: TableModel) => ViewState,
  { also = [], ...options }: { silent?: boolean; also?: MetaStatement[] } = {},
): Promise<void> {
  const { table } = await store.modelOf(viewId)
  await schema.apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.modelOf(viewId)
      const row = await store.findRow(viewId)
      if (!row) throw notFound('View', viewId)
      const before = stateOf(row)
      const after = decide(row, model)
      const others = (await store.rowsOf(table.id)).filter((other) => other.id !== viewId)
      if (after.title !== row.title && isTitleTaken(after.title, others)) {
        throw new AppError('DUPLICATE_ALIAS', `Duplicate view alias '${after.title}' at table '${table.id}'`)
      }
      const { views } = store
      return {
        statements: [
          db
            .update(views)
            .set({ ...after, updatedAt: now })
            .where(eq(views.id, viewId)),
          ...also,
        ],
        entry: Bun.deepEquals(before, after)
          ? null
          : { kind: 'view.update', tableId: table.id, detail: { viewId, before, after } },
        tableIds: [table.id],
        result: undefined,
      }
    },
    options,
  )
}

/** Conditions on fields that went to the trash since they were written wait in the view unchecked. */
function checkedFilter(model: TableModel, filter: Filter | null, before: Filter | null): Filter | null {
  if (filter === null) return null
  const waiting = new Set(fieldsOf(before).filter((fieldId) => !model.field(fieldId)))
  const live = prune(filter, (fieldId) => !waiting.has(fieldId))
  const problem = live && checkFilter(live, (fieldId) => model.field(fieldId))[0]
  if (problem) throw problem
  return filter
}

function checkedSorts(model: TableModel, sorts: Sort[], before: Sort[]): Sort[] {
  const waiting = new Set(before.map((sort) => sort.fieldId))
  for (const { fieldId } of sorts) if (!waiting.has(fieldId)) requireField(model, fieldId)
  return withSortIds(sorts, before)
}

/** What the log keeps of a view. */
export const stateOf = (row: ViewRow): ViewState => {
  const { title, description, rowHeight, frozen, filter, sorts, meta, lock, order, showSystemFields } = row
  return { title, description, rowHeight, frozen, filter, sorts, meta, lock, order, showSystemFields }
}
