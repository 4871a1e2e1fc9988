import type { Actor } from '../../src/core/actor.ts'
import { notFound } from '../../src/core/errors.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { TableModel } from '../schema/index.ts'
import { openView, type ViewsContext } from './context.ts'
import { createLineId, fieldsOfView, type LineRow, type ViewRow } from './model.ts'

/** A view's row and table, and a stored line for each of the table's fields. */
interface OpenedLines {
  row: ViewRow
  model: TableModel
  lines: LineRow[]
}

/**
 * A view with a line for each live field, in its order. Lines that the view did not need so far are
 * written now, as they are shown, because REST clients name them by their id.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function openWithLines(
  context: ViewsContext,
  actor: Actor,
  right: BaseRight,
  viewId: string,
): Promise<OpenedLines> {
  const { store, db } = context
  const { model } = await openView(context, actor, right, viewId)
  const row = await store.findRow(viewId)
  if (!row) throw notFound('View', viewId)
  const kept = await store.linesOf(viewId)
  const shown = fieldsOfView(model, row.kind, kept)
  const known = new Set(kept.map((line) => line.fieldId))
  const missing = shown.filter((line) => !known.has(line.fieldId))
  if (missing.length > 0) {
    const { viewFields } = store
    // Two who read at once write the same lines: the first of each stays.
    await db
      .insert(viewFields)
      .values(missing.map((line) => ({ id: createLineId(row.kind), viewId, ...line })))
      .onConflictDoNothing()
  }
  const all = missing.length > 0 ? await store.linesOf(viewId) : kept
  const byField = new Map(all.map((line) => [line.fieldId, line]))
  const lines = shown.flatMap((line) => {
    const found = byField.get(line.fieldId)
    return found ? [{ ...found, show: line.show }] : []
  })
  return { row, model, lines }
}

/**
 * The line of an id, in any view or in the one named.
 *
 * @throws FIELD_NOT_FOUND
 */
export async function requireLine(
  { store }: ViewsContext,
  lineId: string,
  viewId?: string,
): Promise<LineRow> {
  const line = await store.findLine(lineId)
  if (!line || (viewId !== undefined && line.viewId !== viewId)) throw notFound('Field', lineId.slice(0, 64))
  return line
}
