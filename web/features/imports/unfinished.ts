import { m } from '../../messages.gen.ts'
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
      return subject ?? m.imports_import()
    case 'duplicate-base':
    case 'duplicate-model':
    case 'duplicate-column':
      return subject === null ? m.imports_duplicate_field() : m.imports_copy_name({ name })
    case EXPORT_JOB:
      return m.common_export()
    case 'storage.reclaim':
      return m.imports_reclaim_space()
    default:
      return subject ?? m.imports_work_in_the_background()
  }
}
