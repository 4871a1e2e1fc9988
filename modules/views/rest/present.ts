import type { Actor } from '../../../src/core/actor.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Sort, Table } from '../../../src/core/model.ts'
import { SHARE_PASSWORD_MASK, type ShareSettings } from '../../../src/core/shares.ts'
import { viewKind } from '../../../src/core/views/index.ts'
import { toWireOperator } from '../../../src/wire/filters.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import type { ShareRow } from '../../auth/index.ts'
import type { PresentTableViews, TableModel } from '../../schema/index.ts'
import {
  liveColoring,
  type ShownView,
  type ViewFieldRow,
  type ViewRow,
  type ViewShare,
} from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { eachNode, toNodes, type WireNode } from './filter-list.ts'
import { WIRE_KINDS } from './kinds/index.ts'
import { commonKeys } from './kinds/wire-kind.ts'
import { presentVisibility } from './view-bodies.ts'

/** Presents the views of a table, for the REST adapter of the schema module. */
export const presentTableViews =
  (views: ViewsService): PresentTableViews =>
  async (model, options) =>
    (await views.shownOfTable(model, options)).map((shown) => presentView(shown, options))

/** Presents the views of a table. @throws TABLE_NOT_FOUND */
export const presentViewList = async (views: ViewsService, actor: Actor, tableId: string) =>
  (await views.listShown(actor, tableId)).map((shown) => presentView(shown, { detailed: true }))

/** Presents one view. @throws VIEW_NOT_FOUND */
export const presentOneView = async (views: ViewsService, actor: Actor, viewId: string) =>
  presentView(await views.openShown(actor, 'view.list', viewId), { detailed: false })

/**
 * A view for visitors of its public link (wire §17), with columns, filter and sorts of the fields it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function presentSharedView(
  views: ViewsService,
  viewId: string,
  share: Pick<ShareRow, 'id' | 'settings'>,
) {
  const { shown, fields } = await views.openShared(viewId, share)
  const { model, row } = shown
  const children = presentFilters(model, ownedByView(row), row.filter)
  return {
    ...presentView(shown, { detailed: false }),
    filter: { is_group: true, logical_op: 'and', children },
    sorts: row.sorts.map((sort, index) => presentSort(model.table, row, sort, index + 1)),
    columns: fields.map((field) => presentColumn(shown, field)),
  }
}

/**
 * A view (wire §9.1).
 *
 * @param detailed adds the names of the table and the visibility, as in lists of views
 */
export function presentView(shown: ShownView, { detailed }: { detailed: boolean }) {
  const { model, row, share } = shown
  const { table } = model
  const link = presentShare(share)
  return {
    ...(detailed && {
      ptn: table.tableName,
      _ptn: table.title,
      ptype: 'table',
      tn: row.title,
      _tn: row.title,
      table_meta: Object.keys(table.meta).length === 0 ? null : table.meta,
    }),
    id: row.id,
    source_id: table.sourceId,
    base_id: table.baseId,
    fk_model_id: row.tableId,
    title: row.title,
    type: viewKind(row.kind).wireNumber,
    is_default: row.isDefault,
    show_system_fields: row.showSystemFields,
    lock_type: row.lock,
    uuid: link.uuid,
    password: link.password,
    show: true,
    order: row.order,
    created_at: wireTime(row.createdAt),
    updated_at: wireTime(row.updatedAt),
    meta: { ...row.meta, ...link.meta },
    description: row.description,
    created_by: row.createdBy,
    owned_by: row.ownedBy ?? row.createdBy,
    row_coloring_mode: liveColoring(model, row)?.mode ?? null,
    view: presentKind(shown),
    ...(detailed && { disabled: presentVisibility(row) }),
  }
}

/** The type-specific object of a view, its `view` (wire §9.1). */
export const presentKind = (shown: ShownView): Record<string, unknown> => ({
  ...commonKeys(shown),
  ...WIRE_KINDS[shown.row.kind].present(shown),
})

/** A column of a view (wire §9.1). */
export function presentColumn(shown: ShownView, field: ViewFieldRow) {
  const { model, row } = shown
  const ofKind = WIRE_KINDS[row.kind].presentColumn?.(shown, field) ?? {}
  return {
    id: field.id,
    fk_view_id: row.id,
    fk_column_id: field.fieldId,
    source_id: model.table.sourceId,
    base_id: model.table.baseId,
    uuid: null,
    label: null,
    help: null,
    ...('width' in ofKind && { width: ofKind.width }),
    show: field.show,
    order: field.order,
    created_at: wireTime(row.createdAt),
    updated_at: wireTime(row.updatedAt),
    ...ofKind,
  }
}

/** A sort of a view (wire §10). */
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

/** What a filter belongs to. */
export interface FilterOwner {
  viewId: string | null
  hookId: string | null
  createdAt: string
  updatedAt: string
}

export const ownedByView = ({ id, createdAt, updatedAt }: ViewRow): FilterOwner => ({
  viewId: id,
  hookId: null,
  createdAt,
  updatedAt,
})

/** The filters of a view or a webhook (wire §10), groups before their children, without conditions on deleted fields. */
export const presentFilters = (model: TableModel, owner: FilterOwner, filter: Filter | null) =>
  presentNodes(model, owner, toNodes(filter))

/** As `presentFilters`, for a list of filters. */
export function presentNodes(model: TableModel, owner: FilterOwner, nodes: WireNode[]) {
  const isLive = ({ content }: WireNode) =>
    !('condition' in content) || model.field(content.condition.fieldId)
  return [...eachNode(nodes)]
    .filter(({ node }) => isLive(node))
    .map((place) => presentFilter(model.table, owner, place))
}

/** The answer of a list of filters: those outside of groups, or all with `includeAllFilters=true`. */
export const filterList = (
  filters: ReturnType<typeof presentFilters>,
  { includeAllFilters }: Record<string, string>,
) => ({
  list: includeAllFilters === 'true' ? filters : filters.filter((filter) => filter.fk_parent_id === null),
})

/** The `logical_op` of a filter. */
export const operatorOf = ({ not, join }: WireNode): 'and' | 'or' | 'not' => (not ? 'not' : join)

/** A filter, or a group of them. */
function presentFilter(
  table: Table,
  owner: FilterOwner,
  { node, parentId, order }: { node: WireNode; parentId: string | null; order: number },
) {
  const condition = 'condition' in node.content ? node.content.condition : null
  return {
    id: node.id,
    source_id: table.sourceId,
    base_id: table.baseId,
    fk_view_id: owner.viewId,
    fk_hook_id: owner.hookId,
    fk_column_id: condition?.fieldId ?? null,
    fk_parent_id: parentId,
    logical_op: operatorOf(node),
    comparison_op: condition && toWireOperator(condition.operator),
    value: condition && filterText(condition.value),
    is_group: condition ? null : true,
    order,
    created_at: wireTime(owner.createdAt),
    updated_at: wireTime(owner.updatedAt),
    comparison_sub_op: condition?.operand ?? null,
    fk_link_col_id: null,
    fk_value_col_id: null,
    fk_parent_column_id: null,
    fk_row_color_condition_id: null,
    fk_widget_id: null,
  }
}

/** The `value` of a condition: always text, with commas between the items of a list. */
export const filterText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? value.join(',') : String(value)
}

/** The keys of a view's public link. The password is masked, because only its hash is stored. */
const presentShare = (share: ViewShare | null) => ({
  uuid: share?.id ?? null,
  password: share?.hasPassword ? SHARE_PASSWORD_MASK : null,
  meta: share ? pageSettings(share.settings) : {},
})

/**
 * The settings of the public page by their names in `meta`. Those that are off are undefined, to cover the copy in the
 * view's own `meta` of a client that has sent back what it read.
 */
const pageSettings = ({ allowDownload, survey, rtl, language, themeColor }: ShareSettings) => ({
  allowCSVDownload: allowDownload,
  surveyMode: survey || undefined,
  rtl: rtl || undefined,
  language: language ?? undefined,
  theme: themeColor === null ? undefined : { primaryColor: themeColor },
})
