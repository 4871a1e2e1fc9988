import { CloudOff, RotateCw } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { t, tn } from '../../../i18n.ts'
import { Button } from '../../../ui/button.tsx'
import { queueOf } from '../queue/base-queue.ts'
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
            {t('You’re offline.')} {tn('1 unsaved change.', '{n} unsaved changes.', status.waiting)}
          </span>
          <Button size="small" variant="ghost" icon={RotateCw} onClick={queue.retryNow}>
            {t('Retry now')}
          </Button>
        </div>
      )}
    </div>
  )
}
