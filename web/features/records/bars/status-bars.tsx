import { CloudOff, RotateCw } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Work } from '../../../../src/core/work.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { queueOf } from '../../../records/base-queue.ts'
import { onWork } from '../../../socket.ts'
import { Button } from '../../../ui/button.tsx'
import styles from './table-view.module.css'

const WorkList = lazyPart(() => import('./work-list.tsx'), 'WorkList')

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
      {works.length > 0 && <WorkList works={works} canCancel={canCancel} />}
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
