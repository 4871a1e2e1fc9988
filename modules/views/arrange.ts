import { and, eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { summarySetOf } from '../../src/core/fields/result.ts'
import { createId } from '../../src/core/ids.ts'
import type { Field, View, ViewField } from '../../src/core/model.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { FieldPlace, TableModel } from '../schema/index.ts'
import { openView, requireField, type ViewsContext } from './context.ts'
import { defaultLine, fieldsOfView, type LineRow } from './model.ts'

/** What a call says of one field of a view; what is absent stays. */
export type Arrangement = Pick<ViewField, 'fieldId'> & Partial<Omit<ViewField, 'fieldId'>>

/** Lines on both sides of a change. */
export interface ArrangeDetail {
  viewId: string
  before: ViewField[]
  after: ViewField[]
}

/**
 * Shows, hides, moves, sizes or sums up any number of a view's fields, as one action.
 *
 * @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND; BAD_REQUEST for a summary that the field does not offer, or
 *   for hiding the display field
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
    for (const change of changes) checkArrangement(model, change)
    const lines = await context.store.linesOf(viewId)
    const shown = new Map(fieldsOfView(model, lines).map((line) => [line.fieldId, line]))
    const merged = new Map<string, ViewField>()
    for (const change of changes) {
      const current = merged.get(change.fieldId) ?? shown.get(change.fieldId)
      if (current) merged.set(change.fieldId, { ...current, ...withoutUndefined(change) })
    }
    const after = [...merged.values()]
    const before = after.flatMap(({ fieldId }) => shown.get(fieldId) ?? [])
    const isSame = Bun.deepEquals(before, after)
    const detail: ArrangeDetail = { viewId, before, after }
    // A field without a line stands behind those with one: none may be left without beside the new ones.
    const unkept = unkeptLines(model, lines).filter(({ fieldId }) => !merged.has(fieldId))
    return {
      statements: writeLines(context, viewId, [...unkept, ...after]),
      entry: isSame ? null : { kind: 'view.arrange', tableId: model.table.id, detail },
      tableIds: [model.table.id],
      result: undefined,
    }
  })
  return (await context.store.load(viewId)).view
}

/** Statements after which a view says exactly this of the fields, whatever it said before. */
export function writeLines({ store, db }: ViewsContext, viewId: string, lines: ViewField[]): MetaStatement[] {
  const { viewFields } = store
  return lines.map(({ fieldId, show, order, width, summary }) =>
    db
      .insert(viewFields)
      .values({ id: createId('gridViewField'), viewId, fieldId, show, order, width, summary })
      .onConflictDoUpdate({
        target: [viewFields.viewId, viewFields.fieldId],
        set: { show, order, width, summary },
      }),
  )
}

/** Statements after which the lines are as they were: those that were not there go. */
export function restoreLines(
  context: ViewsContext,
  viewId: string,
  from: ViewField[],
  to: ViewField[],
): MetaStatement[] {
  const { viewFields } = context.store
  const kept = new Set(to.map((line) => line.fieldId))
  const made = from.map((line) => line.fieldId).filter((fieldId) => !kept.has(fieldId))
  const remove = context.db
    .delete(viewFields)
    .where(and(eq(viewFields.viewId, viewId), inArray(viewFields.fieldId, made)))
  return [...(made.length > 0 ? [remove] : []), ...writeLines(context, viewId, to)]
}

/** The statement that puts a new field ahead of another in one view; in the others it stands last. */
export async function placeNewField(
  context: ViewsContext,
  model: TableModel,
  field: Field,
  { viewId, beforeFieldId, order }: FieldPlace,
): Promise<MetaStatement[]> {
  if (viewId === undefined || (beforeFieldId === undefined && order === undefined)) return []
  const view = (await context.store.ofModel(model)).find((candidate) => candidate.id === viewId)
  if (!view) throw notFound('View', viewId)
  const unkept = unkeptLines(model, await context.store.linesOf(viewId))
  const place = (line: ViewField) => writeLines(context, viewId, [...unkept, line])
  if (beforeFieldId === undefined) return place(defaultLine(field, order ?? 0))
  requireField(model, beforeFieldId)
  const index = view.fields.findIndex((line) => line.fieldId === beforeFieldId)
  const next = view.fields[index]?.order ?? 1
  // The display field stands first whatever its number, so its number says nothing of the place.
  const ahead = view.fields.slice(0, index).filter((line) => line.fieldId !== model.displayField.id)
  const previous = ahead.at(-1)?.order ?? next - 2
  return place({ ...defaultLine(field, (previous + next) / 2), show: true })
}

/** What the view says by default of the fields that it keeps nothing of. */
function unkeptLines(model: TableModel, lines: LineRow[]): ViewField[] {
  const kept = new Set(lines.map((line) => line.fieldId))
  return fieldsOfView(model, lines).filter((line) => !kept.has(line.fieldId))
}

function checkArrangement(model: TableModel, { fieldId, show, summary }: Arrangement): void {
  const field = requireField(model, fieldId)
  if (show === false && field.isDisplay) {
    throw badRequest(`Field "${field.title}" names the records and is always shown`)
  }
  const offered = summariesFor(summarySetOf(field))
  if (summary && !offered.some(({ key }) => key === summary)) {
    throw badRequest(`Field "${field.title}" has no summary '${summary.slice(0, 60)}'`)
  }
}

const withoutUndefined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>
