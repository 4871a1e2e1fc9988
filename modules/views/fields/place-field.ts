import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Field, View, ViewField } from '../../../src/core/model.ts'
import { isFormField } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, isTabular } from '../../../src/core/views/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { type FieldPosition, getField, type TableModel } from '../../schema/index.ts'
import { defaultViewField, isOpenTo, namesRecords, type ViewsContext } from '../model/index.ts'
import { unstoredFields, upsertViewFields } from './arrange.ts'

/**
 * The statements that add a new field to the views of its table. The view that the field is created in shows it at the
 * given position, unless the view's lock forbids that. In all other views it goes last: grids show it, cards do not, and
 * forms ask for it. Views with a public link neither show it nor ask for it, so a new field is never published
 * unintentionally.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND for a position outside the table
 */
export async function placeNewField(
  context: ViewsContext,
  model: TableModel,
  field: Field,
  position: FieldPosition,
  actor: Actor | null,
): Promise<MetaStatement[]> {
  const views = await context.store.ofModel(model)
  const target = position.viewId === undefined ? undefined : views.find(({ id }) => id === position.viewId)
  if (position.viewId !== undefined && !target) throw notFound('View', position.viewId.slice(0, 64))
  const shared = await context.store.sharedIn(model)
  const statements: MetaStatement[] = []
  for (const view of views) {
    const { id, title, lock, ownerId } = view
    const isChangeable =
      actor === null || isOpenTo(actor, { id, title, lock, ownedBy: ownerId, createdBy: null })
    const viewField =
      view === target && isChangeable
        ? fieldInItsView(model, view, field, position)
        : fieldInOtherView(view, field, shared)
    if (viewField) statements.push(...(await addViewField(context, model, view, viewField)))
  }
  return statements
}

const addViewField = async (context: ViewsContext, model: TableModel, view: View, added: ViewField) =>
  upsertViewFields(context, view, [...(await unstoredFields(context, model, view)), added])

/** The field in the view that it is created in; null if the defaults are the same. */
function fieldInItsView(
  model: TableModel,
  view: View,
  field: Field,
  { beforeFieldId, order }: FieldPosition,
): ViewField | null {
  if (beforeFieldId !== undefined) {
    getField(model, beforeFieldId)
    return { ...defaultViewField(field, view.kind, orderBefore(model, view, beforeFieldId)), show: true }
  }
  if (isTabular(view)) return order === undefined ? null : defaultViewField(field, view.kind, order)
  return defaultViewField(field, view.kind, order ?? lastOf(view))
}

/** The statements that hide the reverse field of a new link in public views. */
export async function placeReverseLink(
  context: ViewsContext,
  model: TableModel,
  field: Field,
): Promise<MetaStatement[]> {
  const shared = await context.store.sharedIn(model)
  const statements: MetaStatement[] = []
  for (const view of await context.store.ofModel(model)) {
    const viewField = isTabular(view) ? fieldInOtherView(view, field, shared) : null
    if (viewField) statements.push(...(await addViewField(context, model, view, viewField)))
  }
  return statements
}

/** The field in any other view; null if the defaults are the same. */
function fieldInOtherView(view: View, field: Field, shared: ReadonlySet<string>): ViewField | null {
  if (isTabular(view) && shared.has(view.id)) {
    return { ...defaultViewField(field, view.kind, lastOf(view)), show: false }
  }
  if (!collectsAnswers(view)) return null
  return {
    ...defaultViewField(field, view.kind, lastOf(view)),
    show: isFormField(field) && !shared.has(view.id),
  }
}

const lastOf = ({ fields }: View): number => Math.max(0, ...fields.map(({ order }) => order)) + 1

function orderBefore(model: TableModel, { fields, kind }: View, beforeFieldId: string): number {
  const index = fields.findIndex(({ fieldId }) => fieldId === beforeFieldId)
  const next = fields[index]?.order ?? 1
  // The display field comes first whatever its order, so its order is ignored.
  const isOrdered = ({ fieldId }: ViewField) => fieldId !== model.displayField.id || !namesRecords(kind)
  const previous = fields.slice(0, index).filter(isOrdered).at(-1)
  return ((previous?.order ?? next - 2) + next) / 2
}
