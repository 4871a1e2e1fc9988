import { type Filter, isGroup } from '../../src/core/filters/filter.ts'
import { createId } from '../../src/core/ids.ts'
import type { Field, Sort, View, ViewField } from '../../src/core/model.ts'
import type { TableModel } from '../schema/index.ts'
import type { defineViewsTables } from './tables.ts'

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

/** What a view says of each live field: what it keeps, and the defaults for those it does not know yet. */
export function fieldsOfView(model: TableModel, lines: LineRow[]): ViewField[] {
  const byField = new Map(lines.map((line) => [line.fieldId, line]))
  const last = Math.max(0, ...lines.map((line) => line.order))
  const known = model.fields.map((field): ViewField => {
    const line = byField.get(field.id)
    if (!line) return defaultLine(field, last + field.order)
    const { fieldId, order, width, summary } = line
    return { fieldId, show: line.show || field.isDisplay, order, width, summary }
  })
  const isDisplay = (line: ViewField) => line.fieldId === model.displayField.id
  return known.sort((a, b) => Number(isDisplay(b)) - Number(isDisplay(a)) || a.order - b.order)
}

/**
 * How a view shows a field that it has no line for: record numbers, system fields and the keys that
 * links are kept in are hidden.
 */
export const defaultLine = (field: Field, order: number): ViewField => ({
  fieldId: field.id,
  show: field.isDisplay || (field.type !== 'ID' && !field.isSystem && field.type !== 'ForeignKey'),
  order,
  width: DEFAULT_WIDTH,
  summary: null,
})

/** A view as everyone sees it: what it says of fields in the trash waits there and is left out. */
export function toView(model: TableModel, row: ViewRow, lines: LineRow[]): View {
  const { id, tableId, title, kind, isDefault, order, lock, meta, rowHeight, frozen } = row
  const isLive = (fieldId: string) => model.field(fieldId) !== undefined
  return {
    ...{ id, tableId, title, kind, isDefault, order, lock, meta, rowHeight, frozen },
    fields: fieldsOfView(model, lines),
    filter: row.filter && prune(row.filter, isLive),
    sorts: row.sorts.filter((sort) => isLive(sort.fieldId)),
  }
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
 * The filter with an id on every node. Nodes that stood in the filter before keep theirs, for the web
 * app sends filters without ids and REST clients hold on to them.
 */
export function withFilterIds(filter: Filter | null, before: Filter | null): Filter | null {
  if (filter === null) return null
  const known = new Map<string, string[]>()
  const remember = (node: Filter): void => {
    if (node.id) known.set(shapeOf(node), [...(known.get(shapeOf(node)) ?? []), node.id])
    if (isGroup(node)) node.children.forEach(remember)
  }
  if (before) remember(before)
  const name = (node: Filter): Filter => {
    const id = node.id ?? known.get(shapeOf(node))?.shift() ?? createId('filter')
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
