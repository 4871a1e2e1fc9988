import { t } from '../../i18n.ts'
import type { Outputs } from '../../trpc.ts'
import { EXPORT_JOB } from '../exports/save-file.ts'
import { showCards } from './run-cards.tsx'
import { followUnfinished } from './runs.ts'

type Job = Outputs['jobs']['unfinished'][number]

/** Shows jobs that were started before this page was opened, with their progress and a way to cancel them. */
export function showUnfinished(jobs: readonly Job[]): void {
  // The oldest first, as they were started.
  for (const job of jobs.toReversed()) followUnfinished(job, nameOf(job))
  showCards()
}

function nameOf({ kind, subject }: Job): string {
  const name = subject ?? ''
  switch (kind) {
    case 'import':
      return subject ?? t('Import')
    case 'duplicate-base':
    case 'duplicate-model':
    case 'duplicate-column':
      return subject === null ? t('Duplicate field') : t('Copy: {name}', { name })
    case EXPORT_JOB:
      return t('Export')
    case 'storage.reclaim':
      return t('Reclaim space')
    default:
      return subject ?? t('Work in the background')
  }
}
