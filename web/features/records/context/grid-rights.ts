import type { TableSchema } from '../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import type { GridRights } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import type { StoreQuery } from '../../../records/types.ts'
import type { ViewState } from '../../views/state/view-state.ts'

/**
 * Grid rights of a role, limited by the table's read-only state. `mayArrange`: changes of the
 * view's fields, filter and sorts are saved for everyone.
 */
export function gridRights(
  role: BaseRole,
  { fields, readOnlyReason }: Pick<TableSchema, 'fields' | 'readOnlyReason'>,
): { grid: GridRights; mayArrange: boolean } {
  const isOpen = readOnlyReason === null
  const mayEdit = isOpen && roleCan(role, 'record.update')
  const hasOrder = fields.some((field) => field.isSystem && field.columnName === 'nc_order')
  return {
    mayArrange: roleCan(role, 'view.arrange'),
    grid: {
      editRecords: mayEdit,
      addRecords: isOpen && roleCan(role, 'record.create'),
      deleteRecords: isOpen && roleCan(role, 'record.delete'),
      moveRecords:
        readOnlyReason ??
        (hasOrder
          ? mayEdit || m.records_your_role_cant_reorder_records()
          : m.records_records_connected_database_ordered_primary()),
      // Without the right to save, an arrangement lasts for the visit.
      arrangeColumns: true,
      addFields: roleCan(role, 'field.create'),
    },
  }
}

/** True if the user can reorder the records of a view; otherwise the reason why not. */
export function manualOrderRight(
  { moveRecords }: GridRights,
  { keptBecause }: Pick<ViewState, 'keptBecause'>,
  { sorts }: Pick<StoreQuery, 'sorts'>,
): true | string {
  if (sorts.length > 0) return m.records_remove_sort_reorder_records_manually()
  if (moveRecords !== true) return moveRecords
  if (keptBecause === 'locked') return m.records_view_locked_unlock_reorder_records()
  return keptBecause === 'personal' ? m.records_only_owner_view_reorder_records() : true
}
