import { CloudOff, RotateCw } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { m } from '../../../messages.gen.ts'
import { queueOf } from '../../../records/base-queue.ts'
import { Button } from '../../../ui/button.tsx'
import styles from './table-view.module.css'

/** A thin bar while edits wait for the connection; they go out by themselves when it is back. */
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
