import { toWireOperator } from '../../src/core/filters/index.ts'
import type { Sort, Table, ViewKind } from '../../src/core/model.ts'
import { wireTime } from '../../src/wire.ts'
import type { LineRow, ViewRow } from './model.ts'
import type { WireNode } from './wire-filters.ts'
import { AGGREGATIONS, ROW_HEIGHTS } from './wire-input.ts'

const KIND_NUMBERS: Record<ViewKind, number> = {
  form: 1,
  gallery: 2,
  grid: 3,
  kanban: 4,
  map: 5,
  calendar: 6,
}

const DISABLED = {
  owner: false,
  creator: false,
  viewer: false,
  editor: false,
  commenter: false,
  guest: false,
}

/**
 * A view with every key (wire reference §9.1).
 *
 * @param detailed adds what a list of views names of the table
 */
export function presentView(table: Table, row: ViewRow, { detailed }: { detailed: boolean }) {
  const times = { created_at: wireTime(row.createdAt), updated_at: wireTime(row.updatedAt) }
  const place = { source_id: table.sourceId, base_id: table.baseId }
  return {
    ...(detailed && {
      ...{ ptn: table.tableName, _ptn: table.title, ptype: 'table', tn: row.title, _tn: row.title },
      table_meta: Object.keys(table.meta).length === 0 ? null : table.meta,
    }),
    id: row.id,
    ...place,
    fk_model_id: row.tableId,
    title: row.title,
    type: KIND_NUMBERS[row.kind],
    is_default: row.isDefault,
    show_system_fields: row.showSystemFields,
    lock_type: row.lock,
    ...{ uuid: null, password: null, show: true },
    order: row.order,
    ...times,
    meta: row.meta,
    description: row.description,
    created_by: row.createdBy,
    owned_by: row.createdBy,
    row_coloring_mode: null,
    view: {
      fk_view_id: row.id,
      ...place,
      uuid: null,
      ...times,
      meta: row.meta,
      row_height: ROW_HEIGHTS.indexOf(row.rowHeight),
    },
    ...(detailed && { disabled: DISABLED }),
  }
}

/** A column of a grid (wire reference §9.1). */
export const presentLine = (table: Table, view: ViewRow, line: LineRow) => ({
  id: line.id,
  fk_view_id: view.id,
  fk_column_id: line.fieldId,
  source_id: table.sourceId,
  base_id: table.baseId,
  ...{ uuid: null, label: null, help: null },
  width: `${line.width}px`,
  show: line.show,
  order: line.order,
  created_at: wireTime(view.createdAt),
  updated_at: wireTime(view.updatedAt),
  ...{ group_by: null, group_by_order: null, group_by_sort: null },
  aggregation: Object.keys(AGGREGATIONS).find((name) => AGGREGATIONS[name] === line.summary) ?? 'none',
})

/** A sort of a view (wire reference §10). */
export const presentSort = (table: Table, view: ViewRow, sort: Sort, order: number) => ({
  id: sort.id ?? null,
  source_id: table.sourceId,
  base_id: table.baseId,
  fk_view_id: view.id,
  fk_column_id: sort.fieldId,
  direction: sort.direction,
  order,
  created_at: wireTime(view.createdAt),
  updated_at: wireTime(view.updatedAt),
})

/** A filter of a view, or a group of them (wire reference §10). */
export function presentFilter(
  table: Table,
  view: ViewRow,
  { node, parentId, order }: { node: WireNode; parentId: string | null; order: number },
) {
  const condition = 'condition' in node.content ? node.content.condition : null
  return {
    id: node.id,
    source_id: table.sourceId,
    base_id: table.baseId,
    fk_view_id: view.id,
    fk_hook_id: null,
    fk_column_id: condition?.fieldId ?? null,
    fk_parent_id: parentId,
    logical_op: node.not ? 'not' : node.join,
    comparison_op: condition && toWireOperator(condition.operator),
    value: condition && textOf(condition.value),
    is_group: condition ? null : true,
    order,
    created_at: wireTime(view.createdAt),
    updated_at: wireTime(view.updatedAt),
    comparison_sub_op: condition?.operand ?? null,
    ...{ fk_link_col_id: null, fk_value_col_id: null, fk_parent_column_id: null },
    ...{ fk_row_color_condition_id: null, fk_widget_id: null },
  }
}

const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? value.join(',') : String(value)
}
