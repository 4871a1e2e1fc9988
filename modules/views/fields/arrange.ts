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
import { m } from '../../../src/messages.gen.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import {
  createViewFieldId,
  fieldsOfView,
  namesRecords,
  openView,
  refuseLocked,
  type ViewFieldRow,
  type ViewRow,
  type ViewsContext,
} from '../model/index.ts'

/** A partial update of one field of a view. */
export type Arrangement = Pick<ViewField, 'fieldId'> & Partial<Omit<ViewField, 'fieldId'>>

/** The detail of a `view.arrange` log entry: the fields before and after. */
export interface ArrangeDetail {
  viewId: string
  before: ViewField[]
  after: ViewField[]
  /** Fields that had no row in the view before. */
  added?: string[]
}

/**
 * Updates how a view shows fields (visibility, order, width, summary, form settings), in one action.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED for a view that is locked or somebody else's;
 *   BAD_REQUEST for a summary that the field does not offer, for hiding the display field, or for invalid form settings
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
    const rows = await context.store.fieldRowsOf(viewId)
    const current = new Map(fieldsOfView(model, row.kind, rows).map((field) => [field.fieldId, field]))
    for (const change of changes)
      checkArrangement(model, row, change, current.get(change.fieldId)?.form ?? null)
    const merged = new Map<string, ViewField>()
    for (const change of changes) {
      const field = merged.get(change.fieldId) ?? current.get(change.fieldId)
      if (field) merged.set(change.fieldId, { ...field, ...withoutAbsentKeys(change) })
    }
    const after = [...merged.values()]
    const before = after.flatMap(({ fieldId }) => current.get(fieldId) ?? [])
    const isSame = Bun.deepEquals(before, after)
    if (!isSame) refuseLocked(actor, row)
    const unstored = await unstoredFields(context, model, row)
    const added = unstored.map(({ fieldId }) => fieldId)
    const detail: ArrangeDetail = { viewId, before, after, ...(added.length > 0 && { added }) }
    const others = unstored.filter(({ fieldId }) => !merged.has(fieldId))
    return {
      statements: upsertViewFields(context, row, [...others, ...after]),
      entry: isSame ? null : { kind: 'view.arrange', tableId: model.table.id, detail },
      tableIds: [model.table.id],
      result: undefined,
    }
  })
  return (await context.store.load(viewId)).view
}

/** Statements that insert or update the rows of these fields in a view. */
export function upsertViewFields(
  { store, db }: ViewsContext,
  { id: viewId, kind }: Pick<ViewRow, 'id' | 'kind'>,
  fields: ViewField[],
): MetaStatement[] {
  const { viewFields } = store
  return fields.map(({ fieldId, show, order, width, summary, form }) =>
    db
      .insert(viewFields)
      .values({ id: createViewFieldId(kind), viewId, fieldId, show, order, width, summary, form })
      .onConflictDoUpdate({
        target: [viewFields.viewId, viewFields.fieldId],
        set: { show, order, width, summary, form },
      }),
  )
}

/** Statements that replace the rows `from` by the rows `to`. */
export function restoreViewFields(
  context: ViewsContext,
  view: Pick<ViewRow, 'id' | 'kind'>,
  from: ViewField[],
  to: ViewField[],
): MetaStatement[] {
  const { viewFields } = context.store
  const remaining = new Set(to.map(({ fieldId }) => fieldId))
  const added = from.map(({ fieldId }) => fieldId).filter((fieldId) => !remaining.has(fieldId))
  const remove = context.db
    .delete(viewFields)
    .where(and(eq(viewFields.viewId, view.id), inArray(viewFields.fieldId, added)))
  return [...(added.length > 0 ? [remove] : []), ...upsertViewFields(context, view, to)]
}

/**
 * The live fields that have no row in a view, with the defaults. Fields without a row sort after those with one, so
 * once one field gets a row, all do.
 */
export async function unstoredFields(
  { store }: ViewsContext,
  model: TableModel,
  { id, kind }: Pick<ViewRow, 'id' | 'kind'>,
): Promise<ViewField[]> {
  const rows = await store.fieldRowsOf(id)
  const stored = new Set(rows.map(({ fieldId }) => fieldId))
  return fieldsOfView(model, kind, rows).filter(({ fieldId }) => !stored.has(fieldId))
}

function checkArrangement(
  model: TableModel,
  { kind }: Pick<ViewRow, 'kind'>,
  { fieldId, show, summary, form }: Arrangement,
  before: FormField | null,
): void {
  const field = getField(model, fieldId)
  if (show === false && field.isDisplay && namesRecords(kind)) {
    throw badRequest(m.views_error_display_field_shown({ field: field.title }))
  }
  const offered = summariesFor(summarySetOf(field))
  if (summary && !offered.some(({ key }) => key === summary)) {
    throw badRequest(m.views_error_summary({ field: field.title, summary: summary.slice(0, 60) }))
  }
  if (form == null) return
  if (!collectsAnswers({ kind })) throw badRequest(m.views_error_form_settings({ field: field.title }))
  const problem = formFieldProblem(field, withoutUnchanged(form, before), (id) => model.field(id))
  if (problem !== null) throw badRequest(problem)
}

/**
 * The form settings without unchanged rules and conditions: these may be left over from when a field had another type.
 * They have no effect then and must not prevent an edit of the label.
 */
const withoutUnchanged = (form: FormField, before: FormField | null): FormField => ({
  ...form,
  rules: form.rules.filter((rule) => !before?.rules.some((known) => Bun.deepEquals(known, rule))),
  showIf: Bun.deepEquals(form.showIf, before?.showIf) ? null : form.showIf,
})

const withoutAbsentKeys = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>

/**
 * A view with a row for each live field, in its order. Missing rows are inserted with the defaults, because REST clients
 * address the columns of a view by the ids of these rows.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function openWithFields(
  context: ViewsContext,
  actor: Actor,
  right: BaseRight,
  viewId: string,
): Promise<{ row: ViewRow; model: TableModel; fields: ViewFieldRow[] }> {
  const { store, db } = context
  const { model } = await openView(context, actor, right, viewId)
  const row = await store.findRow(viewId)
  if (!row) throw notFound('View', viewId)
  const stored = await store.fieldRowsOf(viewId)
  const shown = fieldsOfView(model, row.kind, stored)
  const storedIds = new Set(stored.map(({ fieldId }) => fieldId))
  const missing = shown.filter(({ fieldId }) => !storedIds.has(fieldId))
  if (missing.length > 0) {
    // Concurrent readers insert the same rows: the first of each stays.
    await db
      .insert(store.viewFields)
      .values(missing.map((field) => ({ id: createViewFieldId(row.kind), viewId, ...field })))
      .onConflictDoNothing()
  }
  const all = missing.length > 0 ? await store.fieldRowsOf(viewId) : stored
  const byField = new Map(all.map((field) => [field.fieldId, field]))
  const fields = shown.flatMap(({ fieldId, show }) => {
    const found = byField.get(fieldId)
    return found ? [{ ...found, show }] : []
  })
  return { row, model, fields }
}

/**
 * The row of a field in a view, by its own id; with `viewId` only if it belongs to that view.
 *
 * @throws FIELD_NOT_FOUND
 */
export async function requireViewField(
  { store }: ViewsContext,
  id: string,
  viewId?: string,
): Promise<ViewFieldRow> {
  const found = await store.findFieldRow(id)
  if (!found || (viewId !== undefined && found.viewId !== viewId)) throw notFound('Field', id.slice(0, 64))
  return found
}
