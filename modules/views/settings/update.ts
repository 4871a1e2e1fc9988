import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { checkFilter, type Filter, fieldsOf } from '../../../src/core/filters/index.ts'
import type { RowHeight, Sort, View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { RowColoring } from '../../../src/core/views/coloring.ts'
import { rightOfSetting } from '../../../src/core/views/setting-right.ts'
import type { UndoWrite } from '../../../src/db/change-log/undoers.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import { checkTitle, getField, isTitleTaken, type TableModel } from '../../schema/index.ts'
import {
  openView,
  pruneFilter,
  refuseLocked,
  type ViewRow,
  type ViewState,
  type ViewsContext,
  withFilterIds,
  withSortIds,
} from '../model/index.ts'
import { changedOptions, checkColoring, checkGroups } from './check-options.ts'

/** A partial update of a view's settings. */
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
  /** Replaces all options of the kind. */
  options?: object
  /** A member of the base. */
  ownedBy?: string
}

/**
 * Updates the settings that the patch names.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED for a view that is locked or somebody else's;
 *   INVALID_FILTER and FILTER_VERIFICATION_FAILED for a filter that does not fit the fields; BAD_REQUEST for options,
 *   groups or coloring that do not; DUPLICATE_ALIAS for a title that another view of the table has
 */
export async function updateView(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  patch: ViewPatch,
): Promise<View> {
  const { view, model } = await context.store.load(viewId)
  const rights = rightsFor(view, Object.keys(patch))
  if (patch.ownedBy !== undefined) {
    await openView(context, actor, rights, viewId)
    // Clients send whole views back, also those of a super admin or a former member.
    if (patch.ownedBy !== view.ownerId) await requireMember(context, model, patch.ownedBy)
  }
  return changeView(context, actor, viewId, rights, (row) =>
    patch.filter === undefined ? patch : { ...patch, filter: withFilterIds(patch.filter, row.filter) },
  )
}

/** @throws BAD_REQUEST unless the user has a role in the table's base */
async function requireMember({ access }: ViewsContext, { table }: TableModel, userId: string): Promise<void> {
  const people = await access.people(table.baseId)
  if (people.some(({ user }) => user.id === userId)) return
  throw badRequest(m.views_error_owner())
}

/** The rights that a change of these settings needs. */
export function rightsFor(view: Pick<View, 'kind'>, keys: readonly string[]): BaseRight[] {
  const rights = new Set(keys.map((key): BaseRight => rightOfSetting(view, key)))
  return rights.size === 0 ? ['view.arrange'] : [...rights]
}

/**
 * Updates a view with the patch that `decide` returns. `decide` runs inside the write lease on the current row, so two
 * concurrent additions of a sort are both kept.
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
    // Setting the lock to personal also makes the actor the owner.
    const takesOver = patch.lock === 'personal' && patch.ownedBy === undefined && actor.kind === 'user'
    if (takesOver) state.ownedBy = actor.id
    if (patch.title !== undefined) state.title = checkTitle('view', patch.title)
    if (patch.filter !== undefined) state.filter = checkViewFilter(model, patch.filter, row.filter)
    if (patch.sorts !== undefined) state.sorts = checkSorts(model, patch.sorts, row.sorts)
    if (patch.groups !== undefined) state.groups = checkGroups(model, patch.groups)
    if (patch.coloring !== undefined) state.coloring = checkColoring(model, patch.coloring, row.coloring)
    if (patch.options !== undefined) state.options = changedOptions(model, row, patch.options)
    return state
  })
  return (await context.store.load(viewId)).view
}

/** Writes the state that `decide` returns, with a log entry; `also` joins the same transaction. */
export async function writeView(
  { db, schema, store }: ViewsContext,
  actor: Actor,
  viewId: string,
  decide: (row: ViewRow, model: TableModel) => ViewState,
  { also = [], ...options }: Partial<UndoWrite> & { also?: MetaStatement[] } = {},
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
        throw new AppError(
          'DUPLICATE_ALIAS',
          m.wire_error_duplicate_view({ title: after.title, table: table.id }),
        )
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

/** Checks a new filter, except for conditions the view already has on fields in the trash. */
function checkViewFilter(model: TableModel, filter: Filter | null, before: Filter | null): Filter | null {
  if (filter === null) return null
  const trashed = new Set(fieldsOf(before).filter((fieldId) => !model.field(fieldId)))
  const live = pruneFilter(filter, (fieldId) => !trashed.has(fieldId))
  const problem = live && checkFilter(live, (fieldId) => model.field(fieldId))[0]
  if (problem) throw problem
  return filter
}

function checkSorts(model: TableModel, sorts: Sort[], before: Sort[]): Sort[] {
  // A field that is sorted by already may be in the trash.
  const known = new Set(before.map((sort) => sort.fieldId))
  for (const { fieldId } of sorts) if (!known.has(fieldId)) getField(model, fieldId)
  return withSortIds(sorts, before)
}

/** The settings in which two states of a view differ. */
export const changedKeys = (before: ViewState, after: ViewState): (keyof ViewState)[] =>
  (Object.keys(after) as (keyof ViewState)[]).filter((key) => !Bun.deepEquals(before[key], after[key]))

/** The part of a view that the change log stores. */
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
