import { preloadEditors } from '../../../cells/cell.ts'
import { m } from '../../../messages.gen.ts'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { toast } from '../../../ui/toast.ts'
import type { GetContext } from '../context/table-context.ts'
import type { NewRecordOptions } from './new-record-dialog.tsx'

const NewRecordDialog = lazyDialog(async () => {
  const [dialog] = await Promise.all([import('./new-record-dialog.tsx'), preloadEditors()])
  return dialog
}, 'NewRecordDialog')

/** Opens the dialog for a new record, in views without an input row. */
export function openNewRecord(get: GetContext, options: NewRecordOptions = {}): void {
  openDialog((close) => (
    <NewRecordDialog
      {...options}
      getContext={get}
      onClose={close}
      onAbandoned={(values) =>
        toast.warning({
          text: m.records_record_not_added(),
          action: { label: m.records_keep_editing(), run: () => openNewRecord(get, { ...options, values }) },
        })
      }
    />
  ))
}
