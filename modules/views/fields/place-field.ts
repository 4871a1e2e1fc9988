import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Field, View, ViewField } from '../../../src/core/model.ts'
import { canBeAsked } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, isTabular } from '../../../src/core/views/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { FieldPlace, TableModel } from '../../schema/index.ts'
import { defaultLine, isOpenTo, namesRecords, requireField, type ViewsContext } from '../model/index.ts'
import { unkeptLines, writeLines } from './arrange.ts'

/**
 * The statements that put a new field into the views of its table. In the view that it is made in it is shown
 * at the place that was asked for, unless that view's lock keeps it as it is. Everywhere else it goes last: grids
 * show it, views of cards do not, for a card that grows by itself is no card any more, and a form asks for it.
 * Views that are public neither show it nor ask for it: nobody should find out from strangers that a new field
 * was there.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND for a place that is not in the table
 */
export async function placeNewField(
  context: ViewsContext,
  model: TableModel,
  field: Field,
  place: FieldPlace,
  actor: Actor | null,
): Promise<MetaStatement[]> {
  const views = await context.store.ofModel(model)
  const made = place.viewId === undefined ? undefined : views.find(({ id }) => id === place.viewId)
  if (place.viewId !== undefined && !made) throw notFound('View', place.viewId.slice(0, 64))
  const shared = await context.store.sharedIn(model)
  const statements: MetaStatement[] = []
  for (const view of views) {
    const isMadeHere = view === made && (actor === null || isOpenTo(actor, heldBy(view)))
    const line = isMadeHere ? lineIn(model, view, field, place) : lineElsewhere(view, field, shared)
    if (line)
      statements.push(...writeLines(context, view, [...(await unkeptLines(context, model, view)), line]))
  }
  return statements
}

const heldBy = ({ id, title, lock, ownerId }: View) => ({
  id,
  title,
  lock,
  ownedBy: ownerId,
  createdBy: null,
})

/** The line of a field in the view that it is made in; null where the defaults say the same. */
function lineIn(
  model: TableModel,
  view: View,
  field: Field,
  { beforeFieldId, order }: FieldPlace,
): ViewField | null {
  if (beforeFieldId !== undefined) {
    requireField(model, beforeFieldId)
    return { ...defaultLine(field, view.kind, placeAhead(model, view, beforeFieldId)), show: true }
  }
  if (isTabular(view)) return order === undefined ? null : defaultLine(field, view.kind, order)
  return defaultLine(field, view.kind, order ?? lastOf(view))
}

/** The statements that keep the other end of a new link, which nobody has put into a view, out of public ones. */
export async function placeReverse(
  context: ViewsContext,
  model: TableModel,
  field: Field,
): Promise<MetaStatement[]> {
  const shared = await context.store.sharedIn(model)
  const statements: MetaStatement[] = []
  for (const view of await context.store.ofModel(model)) {
    const line = isTabular(view) ? lineElsewhere(view, field, shared) : null
    if (line)
      statements.push(...writeLines(context, view, [...(await unkeptLines(context, model, view)), line]))
  }
  return statements
}

/** The line of a field in another view; null where the defaults say the same. */
function lineElsewhere(view: View, field: Field, shared: ReadonlySet<string>): ViewField | null {
  if (isTabular(view) && shared.has(view.id)) {
    return { ...defaultLine(field, view.kind, lastOf(view)), show: false }
  }
  if (!collectsAnswers(view)) return null
  return { ...defaultLine(field, view.kind, lastOf(view)), show: canBeAsked(field) && !shared.has(view.id) }
}

const lastOf = ({ fields }: View): number => Math.max(0, ...fields.map((line) => line.order)) + 1

function placeAhead(model: TableModel, { fields, kind }: View, beforeFieldId: string): number {
  const index = fields.findIndex((line) => line.fieldId === beforeFieldId)
  const next = fields[index]?.order ?? 1
  // The display field stands first whatever its number, so its number says nothing of the place.
  const isNumbered = (line: ViewField) => line.fieldId !== model.displayField.id || !namesRecords(kind)
  const ahead = fields.slice(0, index).filter(isNumbered)
  return ((ahead.at(-1)?.order ?? next - 2) + next) / 2
}
