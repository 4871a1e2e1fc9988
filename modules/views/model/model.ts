import { fieldType } from '../../../src/core/fields/index.ts'
import { hasSingleChoice, isForeignKey } from '../../../src/core/fields/traits.ts'
import { type Filter, isGroup } from '../../../src/core/filters/filter.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { Field, Sort, View, ViewField, ViewKind } from '../../../src/core/model.ts'
import { type ShareSettings, shareSettings } from '../../../src/core/shares.ts'
import { isFormField } from '../../../src/core/views/form-answers.ts'
import {
  collectsAnswers,
  coloringFields,
  groupingProblem,
  isTabular,
  type RowColoring,
  viewKind,
} from '../../../src/core/views/index.ts'
import { viewsForVisitors } from '../../../src/core/views/public-view.ts'
import type { ShareRow } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import type { defineViewsTables } from '../tables.ts'

type Tables = ReturnType<typeof defineViewsTables>
/** A row of the `views` table. */
export type ViewRow = Tables['views']['$inferSelect']
/** A row of the `view_fields` table: how one view shows one field. */
export type ViewFieldRow = Tables['viewFields']['$inferSelect']

// Column widths in pixels (ui §4.1).
export const DEFAULT_WIDTH = 200
export const MIN_WIDTH = 50
export const MAX_WIDTH = 2000

/**
 * True for kinds in which the display field names the records and is always shown first. A form asks for it like for
 * any other field.
 */
export const namesRecords = (kind: ViewKind): boolean => !collectsAnswers({ kind })

/** The live fields in the order of the view: as stored, or with the defaults where the view has no row for a field. */
export function fieldsOfView(model: TableModel, kind: ViewKind, rows: ViewFieldRow[]): ViewField[] {
  const byField = new Map(rows.map((row) => [row.fieldId, row]))
  const last = Math.max(0, ...rows.map((row) => row.order))
  const isFirst = (field: Field) => namesRecords(kind) && field.isDisplay
  const fields = model.fields.map((field): ViewField => {
    const row = byField.get(field.id)
    if (!row) return laterViewField(field, kind, last + field.order)
    const { fieldId, order, width, summary, form } = row
    return { fieldId, show: row.show || isFirst(field), order, width, summary, form }
  })
  const first = model.fields.find(isFirst)?.id
  const rank = ({ fieldId }: ViewField) => Number(fieldId !== first)
  return fields.sort((a, b) => rank(a) - rank(b) || a.order - b.order)
}

/**
 * A field in a new view. Record ids, system fields and foreign keys are hidden; a form shows the fields that people
 * can fill in.
 */
export const defaultViewField = (field: Field, kind: ViewKind, order: number): ViewField => ({
  fieldId: field.id,
  show: collectsAnswers({ kind })
    ? isFormField(field)
    : field.isDisplay || (fieldType(field.type).storage !== 'id' && !field.isSystem && !isForeignKey(field)),
  order,
  width: DEFAULT_WIDTH,
  summary: null,
  form: null,
})

/**
 * A field that was added after the view and has no row in it. Only grids show it: cards keep their size, and a form
 * gets its new questions from `placeNewField`.
 */
function laterViewField(field: Field, kind: ViewKind, order: number): ViewField {
  const viewField = defaultViewField(field, kind, order)
  const isShown = isTabular({ kind }) || (namesRecords(kind) && field.isDisplay)
  return { ...viewField, show: viewField.show && isShown }
}

/**
 * A view as clients see it. Settings on fields in the trash, or on fields whose type no longer fits, are left out; they
 * stay stored until the field comes back.
 */
export function toView(model: TableModel, row: ViewRow, fields: ViewFieldRow[], isShared: boolean): View {
  const { id, tableId, title, description, kind, isDefault, order, lock, meta, rowHeight, frozen } = row
  const isLive = (fieldId: string) => model.field(fieldId) !== undefined
  return {
    id,
    tableId,
    title,
    description,
    kind,
    isDefault,
    order,
    lock,
    meta,
    rowHeight,
    frozen,
    ownerId: row.ownedBy ?? row.createdBy,
    fields: fieldsOfView(model, kind, fields),
    filter: row.filter && pruneFilter(row.filter, isLive),
    sorts: row.sorts.filter((sort) => isLive(sort.fieldId)),
    groups: liveGroups(model, row),
    coloring: liveColoring(model, row),
    options: liveOptions(model, row),
    hiddenFrom: row.hiddenFrom ?? [],
    ...(row.showSystemFields === true && { showSystemFields: true }),
    isShared,
  }
}

/** The groups on live fields that can be grouped by. */
export const liveGroups = (model: TableModel, { groups }: Pick<ViewRow, 'groups'>): Sort[] =>
  (groups ?? []).filter(({ fieldId }) => {
    const field = model.field(fieldId)
    return field !== undefined && groupingProblem(field) === null
  })

/** The options of a view's kind with every key; references to deleted fields are removed. */
export function liveOptions(model: TableModel, { kind, options }: Pick<ViewRow, 'kind' | 'options'>): object {
  const definition = viewKind(kind)
  return definition.prune(definition.options.parse(options ?? {}), (id) => model.field(id))
}

/** The coloring without rules on deleted fields; null if no rule is left. */
export function liveColoring(model: TableModel, { coloring }: Pick<ViewRow, 'coloring'>): RowColoring | null {
  if (coloring === null) return null
  if (coloring.mode === 'select') {
    const field = model.field(coloring.fieldId)
    return field && hasSingleChoice(field) ? coloring : null
  }
  const isLive = (fieldId: string) => model.field(fieldId) !== undefined
  const rules = coloring.rules.filter((rule) =>
    coloringFields({ mode: 'filter', rules: [rule] }).every(isLive),
  )
  // A coloring that has no rules yet stays.
  const isLost = rules.length === 0 && coloring.rules.length > 0
  return isLost ? null : { ...coloring, rules }
}

/** The filter without conditions on deleted fields; null if no condition is left. */
export function pruneFilter(filter: Filter, isLive: (fieldId: string) => boolean): Filter | null {
  if (!isGroup(filter)) return isLive(filter.fieldId) ? filter : null
  // A group that was created empty stays: REST clients hold its id.
  if (filter.children.length === 0) return filter
  const children = filter.children
    .map((child) => pruneFilter(child, isLive))
    .filter((child) => child !== null)
  return children.length === 0 ? null : { ...filter, children }
}

/**
 * The filter with a unique id on every node; of two nodes with one id, the second gets a new one. A node that comes
 * without an id but equals one of `before` takes over its id, because REST clients hold these ids.
 */
export function withFilterIds(filter: Filter | null, before: Filter | null): Filter | null {
  if (filter === null) return null
  const known = new Map<string, string[]>()
  const remember = (node: Filter): void => {
    if (node.id) known.set(shapeOf(node), [...(known.get(shapeOf(node)) ?? []), node.id])
    if (isGroup(node)) node.children.forEach(remember)
  }
  if (before) remember(before)
  const taken = new Set<string>()
  const nextKnown = (shape: string): string | undefined => {
    const id = known.get(shape)?.shift()
    return id !== undefined && taken.has(id) ? nextKnown(shape) : id
  }
  const name = (node: Filter): Filter => {
    const old = node.id ?? nextKnown(shapeOf(node))
    const id = old !== undefined && !taken.has(old) ? old : createId('filter')
    taken.add(id)
    return isGroup(node) ? { ...node, id, children: node.children.map(name) } : { ...node, id }
  }
  // The outermost group is the view's own list, which REST clients do not address.
  return isGroup(filter) && !filter.not ? { ...filter, children: filter.children.map(name) } : name(filter)
}

/** The same filter for another view, with new ids in place of the old ones. */
export function withFreshIds(filter: Filter): Filter {
  const id = filter.id === undefined ? {} : { id: createId('filter') }
  if (!isGroup(filter)) return { ...filter, ...id }
  return { ...filter, ...id, children: filter.children.map(withFreshIds) }
}

/** The prefix of the ids under which REST clients address the columns of a view. */
const FIELD_ID_KINDS = {
  grid: 'gridViewField',
  form: 'formViewField',
  gallery: 'galleryViewField',
  kanban: 'kanbanViewField',
  calendar: 'calendarViewField',
  map: 'mapViewField',
} as const satisfies Record<ViewKind, IdKind>

export const createViewFieldId = (kind: ViewKind): string => createId(FIELD_ID_KINDS[kind])

// An explicit list of keys, because a database may return the keys of a JSON object in another order.
const shapeOf = (node: Filter): string =>
  isGroup(node)
    ? JSON.stringify([node.join, node.not ?? false, node.children.map(shapeOf)])
    : JSON.stringify([node.fieldId, node.operator, node.operand ?? null, node.value])

/** The sorts with an id each; a sort without one takes over the id that its field's sort had before. */
export const withSortIds = (sorts: Sort[], before: Sort[]): Sort[] =>
  sorts.map(({ id, fieldId, direction }) => ({
    id: id ?? before.find((sort) => sort.fieldId === fieldId)?.id ?? createId('sort'),
    fieldId,
    direction,
  }))

/** The part of a view that the change log stores before and after an update. */
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
  | 'groups'
  | 'coloring'
  | 'options'
  | 'ownedBy'
>

/** The public link of a view. */
export interface ViewShare {
  id: string
  /** Always false for visitors of the link. */
  hasPassword: boolean
  settings: ShareSettings
}

/** A view with its table, and with options and groups limited to live fields. */
export interface ShownView {
  model: TableModel
  row: ViewRow
  /** The options of its kind, every key set. */
  options: object
  groups: Sort[]
  /** Null for a view that is not shared, and for visitors of a shared base. */
  share: ViewShare | null
}

/** A view with a row for each field that it can show, in their order. */
export interface ViewWithFields {
  shown: ShownView
  fields: ViewFieldRow[]
}

export const viewShare = ({
  id,
  passwordHash,
  settings,
}: Pick<ShareRow, 'id' | 'passwordHash' | 'settings'>): ViewShare => ({
  id,
  hasPassword: passwordHash !== null,
  settings: shareSettings.parse(settings),
})

export const shownView = (model: TableModel, row: ViewRow, share: ViewShare | null = null): ShownView => ({
  model,
  row,
  share,
  options: liveOptions(model, row),
  groups: liveGroups(model, row),
})

/**
 * The view without its public link, without options for members only, such as the addresses answers are mailed to, and
 * without conditions on addresses of people.
 */
export const forVisitors = (shown: ShownView): ShownView => ({
  ...shown,
  row: viewsForVisitors(shown.model.fields).conditions(shown.row),
  share: null,
  options: viewKind(shown.row.kind).publicOptions?.(shown.options) ?? shown.options,
})
