import type { JobProgress, JobStatus } from '../jobs.ts'
import type { Columns } from './columns.ts'

/** Work that outlives a request. After a restart, unfinished jobs are resumed or marked as failed. */
export function defineJobsTable(c: Columns) {
  return c.table(
    'jobs',
    {
      id: c.text('id').primaryKey(),
      kind: c.text('kind').notNull(),
      status: c.text('status').$type<JobStatus>().notNull(),
      baseId: c.text('base_id'),
      userId: c.text('user_id').notNull(),
      input: c.json('input').notNull(),
      progress: c.json('progress').$type<JobProgress>().notNull(),
      // Of an unfinished job, what its next run needs to know (`JobContext.remember`).
      result: c.json('result'),
      error: c.text('error'),
      /** Set once somebody has asked to cancel it. */
      isCancelled: c.flag('is_cancelled'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (t) => [c.index('jobs_base').on(t.baseId)],
  )
}
