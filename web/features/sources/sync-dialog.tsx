import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { t, tn } from '../../i18n.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import type { Source } from './connection-draft.ts'
import { JobView } from './job-view.tsx'
import styles from './sources.module.css'

type Change = Outputs['schema']['differences'][number]

/** What has changed in the database since it was read, to be taken over as chosen. */
export function SyncDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const { baseId, id: sourceId } = source
  const found = trpc.schema.differences.useQuery({ baseId, sourceId }, { gcTime: 0, staleTime: 0 })
  /** What has been ticked or unticked by hand; a table that was left out before is unticked at first. */
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
      title={t('Synchronise with the database')}
      onClose={onClose}
      onSubmit={submit}
      footer={
        jobId === null && changes.length > 0 ? (
          <>
            <Button onClick={onClose}>{t('Cancel')}</Button>
            <Button type="submit" variant="primary" busy={sync.isPending} disabled={chosen.length === 0}>
              {tn('Apply {n} change', 'Apply {n} changes', chosen.length)}
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>{t('Close')}</Button>
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
      return (
        <ErrorState
          title={t('The database could not be read')}
          error={found.error}
          onRetry={() => void found.refetch()}
        />
      )
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
    if (changes.length === 0) return <Alert>{t('No changes in the database')}</Alert>
    const leftOut = changes.filter((change) => change.isLeftOut)
    const news = changes.filter((change) => !change.isLeftOut)
    return (
      <div className={styles.form}>
        {news.length === 0 && <Alert>{t('No changes in the database')}</Alert>}
        <p className={styles.help}>
          {t(
            'Tables and fields removed from the database are moved to the trash here, with their views. You can undo this.',
          )}
        </p>
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
              {tn('{n} table was skipped', '{n} tables were skipped', leftOut.length)}
            </summary>
            <ul className={styles.changes}>{leftOut.map((change) => pick(change, change.table))}</ul>
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
      return isView ? t('New view') : t('New table')
    case 'table.remove':
      return isView ? t('View removed') : t('Table removed')
    case 'column.add':
      return t('New column {column}', names)
    case 'column.remove':
      return t('Column {column} removed', names)
    case 'column.change':
      return from === to
        ? t('Column {column}: constraints changed', names)
        : t('Column {column}: {from} → {to}', names)
    case 'relation.add':
      return t('New link: {column} → {related}', names)
    case 'relation.remove':
      return t('Link removed: {column} → {related}', names)
  }
}
