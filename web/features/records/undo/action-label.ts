import { type Action, actionText } from '../../../../src/core/actions.ts'
import { m } from '../../../messages.gen.ts'

/** The question before an action is undone: `Undo import of 12,000 records into weather?` */
export function undoQuestion(action: Action, isRedo: boolean): string {
  const { key, params } = action.label
  if (key === 'import' && action.further === 0) {
    const imported = { count: Number(params.count), table: String(params.table) }
    return isRedo ? m.records_redo_import_confirm(imported) : m.records_undo_import_confirm(imported)
  }
  const what = actionText(action)
  return isRedo ? m.records_redo_quoted_confirm({ what }) : m.records_undo_quoted_confirm({ what })
}
