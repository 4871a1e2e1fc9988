import { fieldType } from '../../../src/core/fields/index.ts'
import { hasSingleChoice, isForeignKey } from '../../../src/core/fields/traits.ts'
import { type Filter, isGroup } from '../../../src/core/filters/filter.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { Field, Sort, View, ViewField, ViewKind } from '../../../src/core/model.ts'
import { type ShareSettings, shareSettings } from '../../../src/core/shares.ts'
import { canBeAsked } from '../../../src/core/views/form-answers.ts'
import {
  collectsAnswers,
  coloringFields,
  groupingProblem,
  isTabular,
  type RowColoring,
  viewKind,
} from '../../../src/core/views/index.ts'
import type { ShareRow } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import type { defineViewsTables } from '../tables.ts'

type Tables = ReturnType<typeof defineViewsTables>
/** A row of the `views` table. */
export type ViewRow = Tables['views']['$inferSelect']
/** What one view keeps of one field. */
export type LineRow = Tables['viewFields']['$inferSelect']

/** Pixels of a column that nobody has sized (ui §4.1). */
export const DEFAULT_WIDTH = 200
/** Pixels that a column has at least (ui §4.1). */
export const MIN_WIDTH = 50
/** Pixels that a column has at most. */
export const MAX_WIDTH = 2000

/**
 * True in kinds where the display field names the records: it is always shown there, ahead of the others.
 * A form asks for it like for any other.
 */
export const namesRecords = (kind: ViewKind): boolean => !collectsAnswers({ kind })

/** What a view says of each live field: what it keeps, and the defaults for those it does not know yet. */
export function fieldsOfView(model: TableModel, kind: ViewKind, lines: LineRow[]): ViewField[] {
  const byField = new Map(lines.map((line) => [line.fieldId, line]))
  const last = Math.max(0, ...lines.map((line) => line.order))
  const isFirst = (field: Field) => namesRecords(kind) && field.isDisplay
  const known = model.fields.map((field): ViewField => {
    const line = byField.get(field.id)
    if (!line) return laterLine(field, kind, last + field.order)
    const { fieldId, order, width, summary, form } = line
    return { fieldId, show: line.show || isFirst(field), order, width, summary, form }
  })
  const first = model.fields.find(isFirst)?.id
  const rank = (line: ViewField) => Number(line.fieldId !== first)
  return known.sort((a, b) => rank(a) - rank(b) || a.order - b.order)
}

/**
 * How a new view shows a field: record numbers, system fields and the keys that links are kept in are hidden,
 * in a form all that nobody can be asked for.
 */
export const defaultLine = (field: Field, kind: ViewKind, order: number): ViewField => ({
  fieldId: field.id,
  show: collectsAnswers({ kind })
    ? canBeAsked(field)
    : field.isDisplay || (fieldType(field.type).storage !== 'id' && !field.isSystem && !isForeignKey(field)),
  order,
  width: DEFAULT_WIDTH,
  summary: null,
  form: null,
})

/**
 * How a view shows a field that has come since and that it has no line for: a grid shows it, cards stay as
 * small as they were made, and a form asks for nothing that nobody has put there (see `placeNewField`).
 */
function laterLine(field: Field, kind: ViewKind, order: number): ViewField {
  const line = defaultLine(field, kind, order)
  const isShown = isTabular({ kind }) || (namesRecords(kind) && field.isDisplay)
  return { ...line, show: line.show && isShown }
}

/**
 * A view as everyone sees it: what it says of fields in the trash, or of a type by now that does not fit,
 * waits there and is left out.
 */
export function toView(model: TableModel, row: ViewRow, lines: LineRow[], isShared: boolean): View {
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
    fields: fieldsOfView(model, kind, lines),
    filter: row.filter && prune(row.filter, isLive),
    sorts: row.sorts.filter((sort) => isLive(sort.fieldId)),
    groups: liveGroups(model, row),
    coloring: liveColoring(model, row),
    options: liveOptions(model, row),
    hiddenFrom: row.hiddenFrom ?? [],
    isShared,
  }
}

/** What the records are grouped by, without fields that are gone or cannot be grouped by any more. */
export const liveGroups = (model: TableModel, { groups }: Pick<ViewRow, 'groups'>): Sort[] =>
  (groups ?? []).filter(({ fieldId }) => {
    const field = model.field(fieldId)
    return field !== undefined && groupingProblem(field) === null
  })

/** The options of a view's kind, with every key and without what they say of fields that are gone. */
export function liveOptions(model: TableModel, { kind, options }: Pick<ViewRow, 'kind' | 'options'>): object {
  const definition = viewKind(kind)
  return definition.prune(definition.options.parse(options ?? {}), (id) => model.field(id))
}

/** The colouring without rules on fields that are gone; null where nothing is left of it. */
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
  // Rules that nobody has written yet are no rules that were lost.
  const isLost = rules.length === 0 && coloring.rules.length > 0
  return isLost ? null : { ...coloring, rules }
}

/** The filter without conditions on fields that are gone; null where nothing is left of it. */
export function prune(filter: Filter, isLive: (fieldId: string) => boolean): Filter | null {
  if (!isGroup(filter)) return isLive(filter.fieldId) ? filter : null
  // A group that was made empty stays: a REST client has an id for it.
  if (filter.children.length === 0) return filter
  const children = filter.children.map((child) => prune(child, isLive)).filter((child) => child !== null)
  return children.length === 0 ? null : { ...filter, children }
}

/**
 * The filter with an id on every node, and no id on two: a copy of a node gets its own. Nodes that stood in the
 * filter before keep theirs, also where they come without, for REST clients hold on to them.
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
  // The outermost group is the view's own list: no client has a name for it.
  return isGroup(filter) && !filter.not ? { ...filter, children: filter.children.map(name) } : name(filter)
}

/** The same filter for another view: what has an id gets one of its own. */
export function withFreshIds(filter: Filter): Filter {
  const id = filter.id === undefined ? {} : { id: createId('filter') }
  if (!isGroup(filter)) return { ...filter, ...id }
  return { ...filter, ...id, children: filter.children.map(withFreshIds) }
}

/** The prefix of the ids that REST clients know the columns of a view by. */
const LINE_KINDS = {
  grid: 'gridViewField',
  form: 'formViewField',
  gallery: 'galleryViewField',
  kanban: 'kanbanViewField',
  calendar: 'calendarViewField',
  map: 'mapViewField',
} as const satisfies Record<ViewKind, IdKind>

/** A fresh id for a line of a view of that kind. */
export const createLineId = (kind: ViewKind): string => createId(LINE_KINDS[kind])

// Spelled out, because a database may give the keys of JSON back in another order.
const shapeOf = (node: Filter): string =>
  isGroup(node)
    ? JSON.stringify([node.join, node.not ?? false, node.children.map(shapeOf)])
    : JSON.stringify([node.fieldId, node.operator, node.operand ?? null, node.value])

/** The sorts with an id each; a field keeps the id that its sort had. */
export const withSortIds = (sorts: Sort[], before: Sort[]): Sort[] =>
  sorts.map(({ id, fieldId, direction }) => ({
    id: id ?? before.find((sort) => sort.fieldId === fieldId)?.id ?? createId('sort'),
    fieldId,
    direction,
  }))

/** The part of a view that the log keeps on both sides of an update. */
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
  /** The password itself is kept as a hash. Always false for visitors, who are not told of it. */
  hasPassword: boolean
  settings: ShareSettings
}

/** A view with what depends on its table: options and groups of live fields only. */
export interface ShownView {
  model: TableModel
  row: ViewRow
  /** The options of its kind, with every key. */
  options: object
  groups: Sort[]
  /** Null for a view that is not shared, and for visitors of a shared base. */
  share: ViewShare | null
}

/** A view with a line for each field that it can show, in their order. */
export interface ViewWithLines {
  shown: ShownView
  lines: LineRow[]
}

/** A stored link as a part of its view. */
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

/** The view without its public link and without the options for members, such as addresses that answers are mailed to. */
export const forVisitors = (shown: ShownView): ShownView => ({
  ...shown,
  share: null,
  options: viewKind(shown.row.kind).publicOptions?.(shown.options) ?? shown.options,
})
