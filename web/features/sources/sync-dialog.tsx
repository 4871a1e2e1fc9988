import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import type { Source } from './connection-draft.ts'
import { JobView } from './job-view.tsx'
import styles from './sources.module.css'

type Change = Outputs['schema']['differences'][number]

/** Changes of the database's structure since the last synchronisation, to apply selectively. */
export function SyncDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const { baseId, id: sourceId } = source
  const found = trpc.schema.differences.useQuery({ baseId, sourceId }, { gcTime: 0, staleTime: 0 })
  /** Changes toggled by the user; skipped tables and what people deleted here start unchecked, all others checked. */
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const [jobId, setJobId] = useState<string | null>(null)
  const sync = trpc.schema.syncSource.useMutation({ onSuccess: ({ id }) => setJobId(id) })
  const changes = found.data ?? []
  const isChosen = ({ key, isLeftOut }: Change) => turned.has(key) === isLeftOut
  const chosen = changes.filter(isChosen)

  function toggle(key: string) {
    const next = new Set(turned)
    if (!next.delete(key)) next.add(key)
    setTurned(next)
  }

  function submit() {
    if (jobId !== null || chosen.length === 0) return
    sync.mutate({ baseId, sourceId, keys: chosen.map(({ key }) => key) })
  }

  return (
    <Dialog
      title={m.sources_synchronise_with_the_database()}
      onClose={onClose}
      onSubmit={submit}
      footer={
        jobId === null && changes.length > 0 ? (
          <DialogButtons
            label={m.sources_apply_changes({ count: chosen.length })}
            busy={sync.isPending}
            disabled={chosen.length === 0}
            onClose={onClose}
          />
        ) : (
          <Button onClick={onClose}>{m.common_close()}</Button>
        )
      }
    >
      {body()}
    </Dialog>
  )

  function pick(change: Change, words: string) {
    return (
      <li key={change.key}>
        <label className={styles.pick}>
          <input type="checkbox" checked={isChosen(change)} onChange={() => toggle(change.key)} />
          <span className={styles.pickName} data-tone={toneOf(change)} dir="auto">
            {words}
          </span>
        </label>
      </li>
    )
  }

  function body() {
    if (jobId !== null) return <JobView jobId={jobId} baseId={baseId} />
    if (found.error) {
      return <QueryError title={m.sources_database_read_failed()} query={found} />
    }
    if (found.isPending) {
      return (
        <div className={styles.form} aria-busy="true">
          <Skeleton width={180} />
          <Skeleton height={36} />
          <Skeleton height={36} />
        </div>
      )
    }
    if (changes.length === 0) return <Alert>{m.sources_no_changes_in_the_database()}</Alert>
    const leftOut = changes.filter((change) => change.isLeftOut)
    const news = changes.filter((change) => !change.isLeftOut)
    return (
      <div className={styles.form}>
        {news.length === 0 && <Alert>{m.sources_no_changes_in_the_database()}</Alert>}
        <p className={styles.help}>{m.sources_sync_hint()}</p>
        {[...Map.groupBy(news, ({ table }) => table)].map(([table, own]) => (
          <section key={table}>
            <h3 className={styles.label} dir="auto">
              {table}
            </h3>
            <ul className={styles.changes}>{own.map((change) => pick(change, wordsOf(change)))}</ul>
          </section>
        ))}
        {leftOut.length > 0 && (
          <details open={news.length === 0}>
            <summary className={styles.label}>
              {m.sources_skipped_or_deleted({ count: leftOut.length })}
            </summary>
            <ul className={styles.changes}>
              {leftOut.map((change) =>
                pick(
                  change,
                  change.kind === 'table.add' ? change.table : `${change.table} · ${wordsOf(change)}`,
                ),
              )}
            </ul>
          </details>
        )}
        {sync.error && <Alert tone="error">{messageOf(sync.error)}</Alert>}
      </div>
    )
  }
}

const toneOf = ({ kind }: Change): string | undefined => (kind.endsWith('.remove') ? 'danger' : undefined)

function wordsOf({ kind, isView, column, relatedTable, from, to }: Change): string {
  const names = { column: column ?? '', related: relatedTable ?? '', from: from ?? '', to: to ?? '' }
  switch (kind) {
    case 'table.add':
      return isView ? m.sources_new_view() : m.common_new_table()
    case 'table.remove':
      return isView ? m.sources_view_removed() : m.sources_table_removed()
    case 'column.add':
      return m.sources_new_column_column(names)
    case 'column.remove':
      return m.sources_column_column_removed(names)
    case 'column.change':
      return from === to
        ? m.sources_column_column_constraints_changed(names)
        : m.sources_column_column_from_to(names)
    case 'relation.add':
      return m.sources_new_link_column_related(names)
    case 'relation.remove':
      return m.sources_link_removed_column_related(names)
  }
}
