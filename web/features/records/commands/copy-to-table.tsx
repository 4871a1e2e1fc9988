import { CopyPlus, FolderInput } from 'lucide-react'
import type { RecordId } from '../../../../src/core/model.ts'
import { MAX_COPIED_IN_JOB } from '../../../../src/core/record-copies.ts'
import { m } from '../../../messages.gen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { can, type TableContext } from '../context/table-context.ts'

const CopyRecordsDialog = lazyDialog(
  () => import('../../copies/copy-records-dialog.tsx'),
  'CopyRecordsDialog',
)

/**
 * Menu items that copy and move records to other tables; none for visitors and too many records.
 *
 * @param onDone called after records were copied or moved
 */
export function copyToTableItems(
  context: TableContext,
  ids: readonly RecordId[],
  onDone: () => void = () => {},
): MenuItem[] {
  const { schema, store } = context
  const recordIds = ids.filter(store.isSaved).map(store.realId)
  if (isVisitorPage || recordIds.length === 0 || recordIds.length > MAX_COPIED_IN_JOB) return []
  const open = (isMove: boolean) =>
    void openDialog((close) => (
      <CopyRecordsDialog
        table={schema.table}
        recordIds={recordIds}
        isMove={isMove}
        onDone={onDone}
        onClose={close}
      />
    ))
  const copy: MenuItem = {
    kind: 'action',
    label: m.records_copy_to_table(),
    icon: CopyPlus,
    run: () => open(false),
  }
  const move: MenuItem = {
    kind: 'action',
    label: m.records_move_to_table(),
    icon: FolderInput,
    run: () => open(true),
  }
  return can(context, 'record.delete') ? [copy, move] : [copy]
}
