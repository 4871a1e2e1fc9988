import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { checkFilter, type Filter, fieldsOf } from '../../../src/core/filters/index.ts'
import type { RowHeight, Sort, View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { RowColoring } from '../../../src/core/views/coloring.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { checkTitle, isTitleTaken, type TableModel } from '../../schema/index.ts'
import {
  openView,
  prune,
  refuseLocked,
  requireField,
  type ViewRow,
  type ViewState,
  type ViewsContext,
  withFilterIds,
  withSortIds,
} from '../model/index.ts'
import { changedOptions, checkedColoring, checkedGroups } from './check-options.ts'

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
  groups?: Sort[]
  coloring?: RowColoring | null
  /** All of what the kind keeps. */
  options?: object
  /** Whose it is: a member of the base. */
  ownedBy?: string
}

/** How a view shows its records is for editors; what it is called, and who may change it, for creators. */
const ARRANGING: ReadonlySet<string> = new Set([
  ...['rowHeight', 'frozen', 'filter', 'sorts', 'groups', 'coloring', 'options'],
])

/**
 * Changes a view: only what the patch names.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED for a view that is locked or somebody else's;
 *   INVALID_FILTER and FILTER_VERIFICATION_FAILED for a filter that does not go with the fields; BAD_REQUEST for
 *   options, groups or colours that do not; DUPLICATE_ALIAS for a title that another view of the table has
 */
export async function updateView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  patch: ViewPatch,
): Promise<View> {
  const rights = rightsFor(Object.keys(patch))
  if (patch.ownedBy !== undefined) {
    const { model } = await openView(context, actor, rights, viewId)
    await requireMember(context, model, patch.ownedBy)
  }
  return changeView(context, actor, viewId, rights, (row) =>
    patch.filter === undefined ? patch : { ...patch, filter: withFilterIds(patch.filter, row.filter) },
  )
}

/** @throws BAD_REQUEST for someone who is no member of the table's base */
async function requireMember({ access }: ViewsContext, { table }: TableModel, userId: string): Promise<void> {
  const members = await access.members(table.baseId)
  if (members.some(({ user }) => user.id === userId)) return
  throw badRequest('The owner of a view must be a member of its base')
}

/** The rights that a change of these parts of a view needs. */
export function rightsFor(keys: readonly string[]): BaseRight[] {
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
    // Who makes a view personal, or does so again, means "mine".
    const becomesOwn = patch.lock === 'personal' && patch.ownedBy === undefined && actor.kind === 'user'
    if (becomesOwn) state.ownedBy = actor.id
    if (patch.title !== undefined) state.title = checkTitle('view', patch.title)
    if (patch.filter !== undefined) state.filter = checkedFilter(model, patch.filter, row.filter)
    if (patch.sorts !== undefined) state.sorts = checkedSorts(model, patch.sorts, row.sorts)
    if (patch.groups !== undefined) state.groups = checkedGroups(model, patch.groups)
    if (patch.coloring !== undefined) state.coloring = checkedColoring(model, patch.coloring)
    if (patch.options !== undefined) state.options = changedOptions(model, row, patch.options)
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
      refuseLocked(actor, row, changedKeys(before, after))
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

/** The parts that two states of a view differ in. */
export const changedKeys = (before: ViewState, after: ViewState): (keyof ViewState)[] =>
  (Object.keys(after) as (keyof ViewState)[]).filter((key) => !Bun.deepEquals(before[key], after[key]))

/** What the log keeps of a view. */
export const stateOf = (row: ViewRow): ViewState => {
  const { title, description, rowHeight, frozen, filter, sorts, meta, lock, order, showSystemFields } = row
  const { groups, coloring, options, ownedBy } = row
  return {
    title,
    description,
    rowHeight,
    frozen,
    filter,
    sorts,
    meta,
    lock,
    order,
    showSystemFields,
    groups,
    coloring,
    options,
    ownedBy,
  }
}
