import { ArrowRight } from 'lucide-react'
import { useState } from 'react'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import type { RecordId } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { listNames, localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { runOnceInQueue } from '../../../records/base-queue.ts'
import { api, cache, trpc } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.ts'
import { fieldOf, type TableContext } from '../context/table-context.ts'
import { offerUndo, placeOf } from '../undo/undo-commands.tsx'
import { LinkChange, Value } from './changed-value.tsx'
import styles from './record-panel.module.css'

interface RestoreVersionProps {
  context: TableContext
  recordId: RecordId
  entryId: number
}

/** Opens the differences of an earlier version of a record, from which it can be restored. */
export function openRestoreVersion(version: RestoreVersionProps): void {
  openDialog((close) => <RestoreVersion {...version} onClose={close} />)
}

function RestoreVersion({
  context,
  recordId,
  entryId,
  onClose,
}: RestoreVersionProps & { onClose: () => void }) {
  const { id: tableId, baseId } = context.schema.table
  const version = { tableId, recordId, entryId }
  const preview = trpc.records.previewRecordVersion.useQuery(version, { staleTime: 0, retry: false })
  const [isBusy, setBusy] = useState(false)
  const { data } = preview
  const isSame = data !== undefined && data.changes.length === 0 && !data.isDeleted

  async function restore() {
    if (!data || isSame) return
    setBusy(true)
    try {
      const { changeId } = await runOnceInQueue(baseId, () =>
        api.records.restoreRecordVersion.mutate(version),
      )
      onClose()
      await Promise.all([cache.records.history.invalidate(), cache.records.get.invalidate()])
      offerUndo(placeOf(context), m.records_version_restored(), changeId)
    } catch (error) {
      setBusy(false)
      toast.error({ text: messageOf(error) })
    }
  }

  return (
    <Dialog
      title={m.records_restore_version()}
      onClose={onClose}
      onSubmit={() => void restore()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={!data || isSame} data-autofocus>
            {m.records_restore()}
          </Button>
        </>
      }
    >
      <div className={styles.version} data-testid="restore-version">
        {preview.error ? (
          <QueryError title={m.records_version_load_failed()} query={preview} />
        ) : !data ? (
          <Skeleton height={64} />
        ) : (
          <>
            <p>
              {isSame
                ? m.records_version_is_current()
                : data.isDeleted
                  ? m.records_version_of_deleted({ time: timeOf(data.at) })
                  : m.records_version_differs({ time: timeOf(data.at) })}
            </p>
            {data.changes.map(({ fieldId, before, after }) => {
              const field = fieldOf(context, fieldId)
              if (!field) return null
              if (linkOf(field)) return <LinkChange key={fieldId} field={field} value={after} />
              return (
                <div key={fieldId} className={styles.change}>
                  <span className={styles.changed} dir="auto">
                    {field.title}
                  </span>
                  {!data.isDeleted && (
                    <>
                      <Value field={field} value={before} isOld />
                      <ArrowRight size={12} className="flip-in-rtl" aria-label={m.records_changed_to()} />
                    </>
                  )}
                  <Value field={field} value={after} />
                </div>
              )
            })}
            {data.left.length > 0 && (
              <p dir="auto">
                {m.records_version_left({
                  fields: listNames(data.left),
                })}
              </p>
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

const timeOf = (at: string): string => new Date(at).toLocaleString(localeTag())
