import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { toast } from '../../ui/toast.ts'
import type { GetContext } from './table-context.ts'

const NewRecordDialog = lazyPart(() => import('./new-record-dialog.tsx'), 'NewRecordDialog')

export interface NewRecordOptions {
  /** Values to begin with: the stack, the day or the place it is made in. */
  values?: Values
  /** The new record stands ahead of this one; absent or null: at the end. */
  before?: RecordId | null
  /** Called with its id once it is made. */
  onCreated?: (id: RecordId) => void
}

/** Asks for a new record, in views that have no row to type it into. */
export function openNewRecord(get: GetContext, options: NewRecordOptions = {}): void {
  openDialog((close) => (
    <NewRecordDialog
      {...options}
      getContext={get}
      onClose={close}
      onAbandoned={(values) =>
        toast.warning({
          text: t('Record not added'),
          action: { label: t('Keep editing'), run: () => openNewRecord(get, { ...options, values }) },
        })
      }
    />
  ))
}
