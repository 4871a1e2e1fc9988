import { useEffect, useState } from 'react'
import type { Work } from '../../../../src/core/work.ts'
import { messageOf } from '../../../errors.ts'
import { t, tn } from '../../../i18n.ts'
import { onWork } from '../../../socket.ts'
import { api } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/toast.ts'
import styles from './table-view.module.css'

/** The server announces each write twice a second: one that it is silent about has gone with its connection. */
const SILENT_MS = 5_000

/** A thin bar for each long write that runs in a base: other edits wait for it. */
export function WorkBar({ baseId, canCancel }: { baseId: string; canCancel: boolean }) {
  const works = useWorks(baseId)
  return (
    <div role="status" className={styles.works}>
      {works.map((work) => (
        <div key={work.id} className={styles.work} data-testid="work-bar">
          <progress value={work.share ?? undefined} aria-label={t('Progress')} />
          <span dir="auto">{wording(work)}</span>
          {canCancel && work.canCancel && (
            <Button size="small" variant="ghost" onClick={() => void cancel(work)}>
              {t('Cancel')}
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
      return t('Changing field {field} of {table}…', { field: field ?? '', table })
    case 'fill':
      return t('Adding field {field} to {table}…', { field: field ?? '', table })
    case 'purge':
      return field === null
        ? t('Deleting records of {table} forever…', { table })
        : t('Deleting field {field} of {table} forever…', { field, table })
    case 'restore':
      if (field !== null) return t('Restoring field {field} of {table}…', { field, table })
      break
  }
  if (table === '') return kind === 'redo' ? t('Redoing a change…') : t('Undoing a change…')
  if (records === null) return t('Preparing a change of {table}…', { table })
  switch (kind) {
    case 'insert':
      return tn('Adding 1 record to {table}…', 'Adding {n} records to {table}…', records, { table })
    case 'delete':
      return tn('Deleting 1 record of {table}…', 'Deleting {n} records of {table}…', records, { table })
    case 'restore':
      return tn('Restoring 1 record of {table}…', 'Restoring {n} records of {table}…', records, { table })
    case 'undo':
      return tn(
        'Undoing a change of 1 record of {table}…',
        'Undoing a change of {n} records of {table}…',
        records,
        { table },
      )
    case 'redo':
      return tn(
        'Redoing a change of 1 record of {table}…',
        'Redoing a change of {n} records of {table}…',
        records,
        { table },
      )
    default:
      return tn('Updating 1 record of {table}…', 'Updating {n} records of {table}…', records, { table })
  }
}

/** Whoever made the change is told that it was cancelled, by the answer to it. */
async function cancel({ id: workId, baseId }: Work): Promise<void> {
  try {
    await api.records.cancelWork.mutate({ baseId, workId })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}
