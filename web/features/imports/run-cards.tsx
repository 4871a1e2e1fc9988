import { X } from 'lucide-react'
import { useEffect } from 'react'
import { createPortal } from 'react-dom'
import { m } from '../../messages.gen.ts'
import { IconButton } from '../../ui/button.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import styles from './run-view.module.css'
import { JobView, RunView } from './run-view.tsx'
import { dismissRun, hasEnded, IMPORT_JOB, useRuns } from './runs.ts'

let isShown = false

/** Shows the imports that go on in the corner of the page, until each has ended and was put away. */
export function showCards(): void {
  if (isShown) return
  isShown = true
  openDialog((close) => (
    <RunCards
      onEmpty={() => {
        isShown = false
        close()
      }}
    />
  ))
}

function RunCards({ onEmpty }: { onEmpty: () => void }) {
  const runs = useRuns()
  const isEmpty = runs.length === 0
  useEffect(() => {
    if (isEmpty) onEmpty()
  }, [isEmpty, onEmpty])
  return createPortal(
    <section className={styles.cards} aria-label={m.imports_running_jobs()}>
      {runs.map((run) => (
        <div key={run.id} className={styles.card}>
          {run.kind === IMPORT_JOB ? (
            <RunView run={run} onLeave={() => dismissRun(run.id)} />
          ) : (
            <JobView run={run} />
          )}
          {hasEnded(run) && (
            <span className={styles.close}>
              <IconButton icon={X} size="small" label={m.common_close()} onClick={() => dismissRun(run.id)} />
            </span>
          )}
        </div>
      ))}
    </section>,
    document.body,
  )
}
