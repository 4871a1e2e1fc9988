import type { TableSchema } from '../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import type { GridRights } from '../../../grid/source.ts'
import { t } from '../../../i18n.ts'
import type { ViewState } from '../../views/state/view-state.ts'
import type { StoreQuery } from '../store/types.ts'

/**
 * What a role may do in the grid of a table, as far as the table lets anyone. `mayArrange`: changes of the
 * view are saved for everyone.
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
          ? mayEdit || t('Your role can’t reorder records')
          : t('Records of a connected database are ordered by primary key')),
      // Who may not save an arrangement keeps it for the visit.
      arrangeColumns: true,
      addFields: roleCan(role, 'field.create'),
    },
  }
}

/** True where this person may put the records of a view into its manual order; else why not. */
export function manualOrderRight(
  { moveRecords }: GridRights,
  { keptBecause }: Pick<ViewState, 'keptBecause'>,
  { sorts }: Pick<StoreQuery, 'sorts'>,
): true | string {
  if (sorts.length > 0) return t('Remove the sort to reorder records manually')
  if (moveRecords !== true) return moveRecords
  if (keptBecause === 'locked') return t('This view is locked: unlock it to reorder its records')
  return keptBecause === 'personal' ? t('Only the owner of this view can reorder its records') : true
}
