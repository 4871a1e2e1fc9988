import { z } from 'zod'
import { nowIso } from '../../../src/clock.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { checkFilter, filterSchema } from '../../../src/core/filters/index.ts'
import { createId } from '../../../src/core/ids.ts'
import { MAX_GROUPS, type ViewKind } from '../../../src/core/model.ts'
import { HIDEABLE_ROLES } from '../../../src/core/roles.ts'
import { formField, rowColoring, VIEW_KINDS } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { checkTitle, refuseUnstorable, type TableModel, uniqueTitle } from '../../schema/index.ts'
import {
  liveColoring,
  liveGroups,
  liveOptions,
  MAX_WIDTH,
  MIN_WIDTH,
  pruneFilter,
  type ViewFieldRow,
  type ViewRow,
} from '../model/index.ts'
import { checkColoring, checkGroups, checkOptions } from '../settings/index.ts'
import { type ViewRows, viewsWithNewIds } from './copied-rows.ts'
import { MAX_VIEWS } from './create-and-delete.ts'

const id = z.string().min(1).max(64)
const json = z.record(z.string().max(64), z.unknown())
const sort = z.object({ id: id.optional(), fieldId: id, direction: z.enum(['asc', 'desc']) })

/** A view as a file describes it. */
export const viewDefinition = z.object({
  id: z.string().regex(/^vw[a-z0-9]{14}$/),
  tableId: id,
  title: z.string().max(1000),
  description: z.string().max(100_000).nullable(),
  kind: z.enum(Object.keys(VIEW_KINDS) as [ViewKind, ...ViewKind[]]),
  isDefault: z.boolean(),
  order: z.number(),
  lock: z.enum(['collaborative', 'locked', 'personal']),
  meta: json,
  showSystemFields: z.boolean().nullable(),
  rowHeight: z.enum(['short', 'medium', 'tall', 'extra']),
  frozen: z.int().min(0).max(1000),
  filter: z.nullable(filterSchema),
  sorts: z.array(sort).max(100),
  groups: z.array(sort).max(MAX_GROUPS).nullable(),
  coloring: z.nullable(rowColoring),
  options: json.nullable(),
  hiddenFrom: z.array(z.enum(HIDEABLE_ROLES)).max(10).nullable(),
  /** The id of a user here; null: the owner of the base. */
  ownedBy: id.nullable(),
})

/** How a view of a file shows a field. */
export const viewFieldDefinition = z.object({
  viewId: id,
  fieldId: id,
  show: z.boolean(),
  order: z.number(),
  width: z.int().min(MIN_WIDTH).max(MAX_WIDTH),
  summary: z.string().max(64).nullable(),
  form: z.nullable(formField),
})

export type ViewDefinition = z.output<typeof viewDefinition>
export type ViewFieldDefinition = z.output<typeof viewFieldDefinition>

/**
 * Turns views from a file into rows for the tables of `models`, under the new ids of `ids`. They are checked like changes
 * of views; what refers to fields that the file does not have is left out.
 *
 * @throws BAD_REQUEST naming a view that does not fit its table, or a table without a default view
 */
export function rowsOfDefinedViews(
  definitions: readonly ViewDefinition[],
  fields: readonly ViewFieldDefinition[],
  {
    ids,
    models,
    ownerId,
  }: { ids: ReadonlyMap<string, string>; models: ReadonlyMap<string, TableModel>; ownerId: string },
): ViewRows {
  refuseUnstorable([definitions, fields])
  const now = nowIso()
  const known = new Set(definitions.map((view) => view.id))
  const lines = fields
    .filter(({ viewId, fieldId }) => known.has(viewId) && ids.has(fieldId))
    .map((field): ViewFieldRow => ({ ...field, id: createId('gridViewField') }))
  const rows = definitions.map(
    (view): ViewRow => ({
      ...view,
      createdBy: view.ownedBy ?? ownerId,
      ownedBy: view.ownedBy ?? ownerId,
      createdAt: now,
      updatedAt: now,
    }),
  )
  const fresh = viewsWithNewIds({ views: rows, lines }, ids)
  const byTable = Map.groupBy(fresh.views, ({ tableId }) => tableId)
  const checked = [...models.values()].flatMap((model) => {
    const own = byTable.get(model.table.id) ?? []
    byTable.delete(model.table.id)
    if (own.filter(({ isDefault }) => isDefault).length !== 1)
      throw badRequest(m.views_error_no_default_view({ table: model.table.title }))
    if (own.length > MAX_VIEWS) throw badRequest(m.views_error_too_many_views({ max: MAX_VIEWS }))
    const done: ViewRow[] = []
    for (const view of own) {
      const title = uniqueTitle(checkTitle('view', view.title), done)
      done.push({ ...view, title, ...settingsOf(model, view) })
    }
    return done
  })
  if (byTable.size > 0)
    throw badRequest(m.views_error_no_default_view({ table: [...byTable.keys()][0] ?? '' }))
  return { views: checked, lines: fresh.lines }
}

/** The settings of a view, as far as the fields exist. @throws BAD_REQUEST and others, as changes of a view */
function settingsOf(model: TableModel, view: ViewRow): Partial<ViewRow> {
  const isLive = (fieldId: string) => model.field(fieldId) !== undefined
  const filter = view.filter && pruneFilter(view.filter, isLive)
  const problem = filter && checkFilter(filter, (fieldId) => model.field(fieldId))[0]
  if (problem) throw problem
  const groups = liveGroups(model, view)
  checkGroups(model, groups)
  const coloring = checkColoring(model, liveColoring(model, view), null)
  const options = view.options && checkOptions(model, view.kind, liveOptions(model, view))
  return {
    filter,
    groups: view.groups && groups,
    coloring,
    options,
    sorts: view.sorts.filter(({ fieldId }) => isLive(fieldId)),
  }
}
