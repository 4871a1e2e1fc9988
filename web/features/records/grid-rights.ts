import { type BaseRole, roleCan } from '../../../src/core/roles.ts'
import type { GridRights } from '../../grid/source.ts'
import { t } from '../../i18n.ts'

/** What a role may do in the grid. `mayArrange`: changes of the view are saved for everyone. */
export function gridRights(role: BaseRole): { grid: GridRights; mayArrange: boolean } {
  const mayEdit = roleCan(role, 'record.update')
  return {
    mayArrange: roleCan(role, 'view.arrange'),
    grid: {
      editRecords: mayEdit,
      addRecords: roleCan(role, 'record.create'),
      deleteRecords: roleCan(role, 'record.delete'),
      moveRecords: mayEdit || t('Your role may not move records'),
      // Who may not save an arrangement keeps it for the visit.
      arrangeColumns: true,
      addFields: roleCan(role, 'field.create'),
    },
  }
}
