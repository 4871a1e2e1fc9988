import { useEffect } from 'react'
import { m } from '../../messages.gen.ts'
import { api, cache } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { hasEnded, useJob } from './jobs.ts'
import styles from './sources.module.css'

interface Result {
  tables: number
  views: number
  changes: number
  notes: { table: string; message: string }[]
}

/** Notes that are listed; of the others, only the number. */
const MAX_NOTES = 50

/** Progress and outcome of connecting or synchronising a source. */
export function JobView({ jobId, baseId }: { jobId: string; baseId: string }) {
  const job = useJob(jobId)
  const isDone = job !== undefined && hasEnded(job)
  useEffect(() => {
    if (!isDone) return
    void cache.sources.list.invalidate({ baseId })
    void cache.schema.tables.invalidate({ baseId })
  }, [isDone, baseId])

  async function cancel() {
    await attempt(() => api.jobs.cancel.mutate({ jobId }))
  }

  if (job?.status === 'failed') return <Alert tone="error">{job.error}</Alert>
  if (job?.status === 'cancelled') return <Alert>{m.sources_cancelled_no_changes_were_made()}</Alert>
  if (job?.status === 'completed') return <Outcome result={job.result as Result} />
  const { done = 0, total = null } = job?.progress ?? {}
  return (
    <div className={styles.progress} role="status">
      <progress value={total === null ? undefined : done} max={total ?? undefined} />
      <span>
        {total === null
          ? m.sources_reading_database_structure()
          : m.sources_tables_done({ done: done, total: total })}
      </span>
      <Button size="small" onClick={() => void cancel()}>
        {m.common_cancel()}
      </Button>
    </div>
  )
}

function Outcome({ result: { tables, views, changes, notes } }: { result: Result }) {
  const counts = [
    tables > 0 && m.sources_tables_were_added({ count: tables }),
    views > 0 && m.sources_views_were_added({ count: views }),
    changes > 0 && m.sources_changes_were_applied({ count: changes }),
  ].filter((text) => text !== false)
  return (
    <div className={styles.form}>
      <Alert>{counts.length > 0 ? counts.join(' · ') : m.sources_already_up_to_date()}</Alert>
      {notes.length > 0 && (
        <section>
          <h3 className={styles.label}>{m.sources_good_to_know()}</h3>
          <ul className={styles.notes}>
            {notes.slice(0, MAX_NOTES).map(({ table, message }) => (
              <li key={table + message}>
                <strong dir="auto">{table}</strong>: {message}
              </li>
            ))}
          </ul>
          {notes.length > MAX_NOTES && (
            <p className={styles.help}>{m.common_more_count({ count: notes.length - MAX_NOTES })}</p>
          )}
        </section>
      )}
    </div>
  )
}
