import { and, eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { summarySetOf } from '../../../src/core/fields/field.ts'
import type { View, ViewField } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import { summariesFor } from '../../../src/core/summaries.ts'
import type { FormField } from '../../../src/core/views/form.ts'
import { formFieldProblem } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  createLineId,
  fieldsOfView,
  type LineRow,
  namesRecords,
  openView,
  refuseLocked,
  requireField,
  type ViewRow,
  type ViewsContext,
} from '../model/index.ts'

/** What a call says of one field of a view; what is absent stays. */
export type Arrangement = Pick<ViewField, 'fieldId'> & Partial<Omit<ViewField, 'fieldId'>>

/** Lines on both sides of a change. */
export interface ArrangeDetail {
  viewId: string
  before: ViewField[]
  after: ViewField[]
}

/**
 * Shows, hides, moves, sizes or sums up any number of a view's fields, or says how a form asks for them, as one
 * action.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED for a view that is locked or somebody else's;
 *   BAD_REQUEST for a summary that the field does not offer, for hiding the display field, or for questions that
 *   a form cannot ask
 */
export async function arrange(
  context: ViewsContext,
  actor: Actor,
  viewId: string,
  changes: Arrangement[],
): Promise<View> {
  const { model } = await openView(context, actor, 'view.arrange', viewId)
  await context.schema.apply(actor, model.table.baseId, async () => {
    const model = await context.store.modelOf(viewId)
    const row = await context.store.findRow(viewId)
    if (!row) throw notFound('View', viewId)
    const lines = fieldsOfView(model, row.kind, await context.store.linesOf(viewId))
    const shown = new Map(lines.map((line) => [line.fieldId, line]))
    for (const change of changes)
      checkArrangement(model, row, change, shown.get(change.fieldId)?.form ?? null)
    const merged = new Map<string, ViewField>()
    for (const change of changes) {
      const current = merged.get(change.fieldId) ?? shown.get(change.fieldId)
      if (current) merged.set(change.fieldId, { ...current, ...withoutUndefined(change) })
    }
    const after = [...merged.values()]
    const before = after.flatMap(({ fieldId }) => shown.get(fieldId) ?? [])
    const isSame = Bun.deepEquals(before, after)
    if (!isSame) refuseLocked(actor, row)
    const detail: ArrangeDetail = { viewId, before, after }
    const unkept = (await unkeptLines(context, model, row)).filter(({ fieldId }) => !merged.has(fieldId))
    return {
      statements: writeLines(context, row, [...unkept, ...after]),
      entry: isSame ? null : { kind: 'view.arrange', tableId: model.table.id, detail },
      tableIds: [model.table.id],
      result: undefined,
    }
  })
  return (await context.store.load(viewId)).view
}

/** Statements after which a view says exactly this of the fields, whatever it said before. */
export function writeLines(
  { store, db }: ViewsContext,
  { id: viewId, kind }: Pick<ViewRow, 'id' | 'kind'>,
  lines: ViewField[],
): MetaStatement[] {
  const { viewFields } = store
  return lines.map(({ fieldId, show, order, width, summary, form }) =>
    db
      .insert(viewFields)
      .values({ id: createLineId(kind), viewId, fieldId, show, order, width, summary, form })
      .onConflictDoUpdate({
        target: [viewFields.viewId, viewFields.fieldId],
        set: { show, order, width, summary, form },
      }),
  )
}

/** Statements after which the lines are as they were: those that were not there go. */
export function restoreLines(
  context: ViewsContext,
  view: Pick<ViewRow, 'id' | 'kind'>,
  from: ViewField[],
  to: ViewField[],
): MetaStatement[] {
  const { viewFields } = context.store
  const kept = new Set(to.map((line) => line.fieldId))
  const made = from.map((line) => line.fieldId).filter((fieldId) => !kept.has(fieldId))
  const remove = context.db
    .delete(viewFields)
    .where(and(eq(viewFields.viewId, view.id), inArray(viewFields.fieldId, made)))
  return [...(made.length > 0 ? [remove] : []), ...writeLines(context, view, to)]
}

/**
 * What a view says by default of the live fields that it keeps nothing of. A field without a line stands behind
 * those with one, so where one gets a line all do.
 */
export async function unkeptLines(
  { store }: ViewsContext,
  model: TableModel,
  { id, kind }: Pick<ViewRow, 'id' | 'kind'>,
): Promise<ViewField[]> {
  const lines = await store.linesOf(id)
  const kept = new Set(lines.map((line) => line.fieldId))
  return fieldsOfView(model, kind, lines).filter((line) => !kept.has(line.fieldId))
}

function checkArrangement(
  model: TableModel,
  { kind }: Pick<ViewRow, 'kind'>,
  { fieldId, show, summary, form }: Arrangement,
  before: FormField | null,
): void {
  const field = requireField(model, fieldId)
  if (show === false && field.isDisplay && namesRecords(kind)) {
    throw badRequest(`Field "${field.title}" is the display field and is always shown`)
  }
  const offered = summariesFor(summarySetOf(field))
  if (summary && !offered.some(({ key }) => key === summary)) {
    throw badRequest(`Field "${field.title}" does not support the summary '${summary.slice(0, 60)}'`)
  }
  if (form == null) return
  if (!collectsAnswers({ kind }))
    throw badRequest(`Form settings of field "${field.title}" are only valid in form views`)
  const problem = formFieldProblem(field, newIn(form, before), (id) => model.field(id))
  if (problem !== null) throw badRequest(problem)
}

/**
 * What a form says of a field without the rules and the condition that it had before: they may be left over from
 * when a field was of another type, have no effect then, and are no reason to refuse a new label.
 */
const newIn = (form: FormField, before: FormField | null): FormField => ({
  ...form,
  rules: form.rules.filter((rule) => !before?.rules.some((known) => Bun.deepEquals(known, rule))),
  showIf: Bun.deepEquals(form.showIf, before?.showIf) ? null : form.showIf,
})

const withoutUndefined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>

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
