import { CloudOff, RotateCw } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Work } from '../../../../src/core/work.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { queueOf } from '../../../records/base-queue.ts'
import { onWork } from '../../../socket.ts'
import { api } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/toast.ts'
import styles from './table-view.module.css'

/** The server announces each write twice a second; after this silence its connection is lost. */
const SILENT_MS = 5_000

/** Says over a view that its records could not be read again; those read before stay. */
export function ReadErrorBar({ text, onRetry }: { text: string; onRetry: () => void }) {
  return (
    <div className={styles.readError} role="alert">
      <span>{text}</span>
      <button type="button" onClick={onRetry}>
        {m.common_try_again()}
      </button>
    </div>
  )
}

/** Progress of each long write in a base; other edits wait for it. */
export function WorkBar({ baseId, canCancel }: { baseId: string; canCancel: boolean }) {
  const works = useWorks(baseId)
  return (
    <div role="status" className={styles.works}>
      {works.map((work) => (
        <div key={work.id} className={styles.work} data-testid="work-bar">
          <progress value={work.share ?? undefined} aria-label={m.records_progress()} />
          <span dir="auto">{wording(work)}</span>
          {canCancel && work.canCancel && (
            <Button size="small" variant="ghost" onClick={() => void cancel(work)}>
              {m.common_cancel()}
            </Button>
          )}
        </div>
      ))}
    </div>
  )
}

function useWorks(baseId: string): Work[] {
  const [works, setWorks] = useState<readonly (Work & { heardAt: number })[]>([])
  useEffect(() => {
    const stop = onWork((work) => {
      setWorks((known) => {
        const others = known.filter(({ id }) => id !== work.id)
        return work.hasEnded ? others : [...others, { ...work, heardAt: Date.now() }]
      })
    })
    const sweep = setInterval(() => {
      const before = Date.now() - SILENT_MS
      setWorks((known) =>
        known.some(({ heardAt }) => heardAt < before)
          ? known.filter(({ heardAt }) => heardAt >= before)
          : known,
      )
    }, SILENT_MS)
    return () => {
      stop()
      clearInterval(sweep)
    }
  }, [])
  return works.filter((work) => work.baseId === baseId).sort((a, b) => a.id.localeCompare(b.id))
}

function wording({ kind, records, tableTitle: table, fieldTitle: field }: Work): string {
  switch (kind) {
    case 'convert':
      return m.records_changing_field_field_of_table({ field: field ?? '', table })
    case 'fill':
      return m.records_adding_field_field_to_table({ field: field ?? '', table })
    case 'purge':
      return field === null
        ? m.records_deleting_records_of_table_forever({ table })
        : m.records_deleting_field_field_table_forever({ field, table })
    case 'restore':
      if (field !== null) return m.records_restoring_field_field_of_table({ field, table })
      break
  }
  if (table === '') return kind === 'redo' ? m.records_redoing_a_change() : m.records_undoing_a_change()
  if (records === null) return m.records_preparing_a_change_of_table({ table })
  switch (kind) {
    case 'insert':
      return m.records_adding_records_to_table({ count: records, table })
    case 'delete':
      return m.records_deleting_records_of_table({ count: records, table })
    case 'restore':
      return m.records_restoring_records_of_table({ count: records, table })
    case 'rewind':
      return m.records_restoring_table_earlier({ count: records, table })
    case 'undo':
      return m.records_undoing_change_records_table({ count: records, table })
    case 'redo':
      return m.records_redoing_change_records_table({ count: records, table })
    default:
      return m.records_updating_records_of_table({ count: records, table })
  }
}

/** Cancels a running write; the request that started it reports the cancellation. */
async function cancel({ id: workId, baseId }: Work): Promise<void> {
  try {
    await api.records.cancelWork.mutate({ baseId, workId })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

/** Shows while edits wait for the connection; they are sent when it is back. */
export function QueueBar({ baseId }: { baseId: string }) {
  const queue = queueOf(baseId)
  const status = useSyncExternalStore(queue.subscribe, queue.status)
  return (
    <div role="status">
      {status.offline && (
        <div className={styles.offline} data-testid="queue-bar">
          <CloudOff size={14} aria-hidden />
          <span>
            {m.records_youre_offline()} {m.records_unsaved_changes({ count: status.waiting })}
          </span>
          <Button size="small" variant="ghost" icon={RotateCw} onClick={queue.retryNow}>
            {m.records_retry_now()}
          </Button>
        </div>
      )}
    </div>
  )
}
