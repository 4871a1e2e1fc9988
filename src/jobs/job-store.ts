import { and, desc, eq, inArray, lt } from 'drizzle-orm'
import { nowMs } from '../clock.ts'
import { storableJson } from '../core/json-text.ts'
import { defineJobsTable } from '../db/jobs-table.ts'
import type { Meta } from '../db/meta.ts'
import { hasEnded, type Job } from '../jobs.ts'

/** Retention of ended jobs. */
const KEPT_MS = 30 * 86_400_000
const LISTED = 100
/** Other text is rejected first: PostgreSQL fails on some, such as null characters, instead of finding nothing. */
const JOB_ID = /^\w{1,64}$/

/** The jobs in the metadata database. */
export function createJobStore(meta: Meta) {
  const { db } = meta
  const jobs = meta.tables(defineJobsTable)
  const isUnfinished = inArray(jobs.status, ['waiting', 'active'])

  const saving = ({ id, status, progress, result, error, updatedAt }: Job) =>
    db
      .update(jobs)
      .set({
        status,
        progress,
        error: storable(error),
        updatedAt,
        ...(hasEnded(status) && { result: storable(result) }),
      })
      .where(and(eq(jobs.id, id), isUnfinished))

  return {
    async insert({ subject: _, group: _group, ...job }: Job, input: unknown): Promise<void> {
      await db.insert(jobs).values({ ...job, input: input ?? {} })
    },
    /** The statement that stores the state of a job that has not ended. */
    saving,
    async save(job: Job): Promise<void> {
      await saving(job)
    },
    /** Stores what the next run of an unfinished job needs to know. */
    async remember(id: string, state: unknown): Promise<void> {
      await db
        .update(jobs)
        .set({ result: storable(state) })
        .where(and(eq(jobs.id, id), isUnfinished))
    },
    /** What `remember` has stored last; null without. */
    async remembered(id: string): Promise<unknown> {
      const [row] = await db
        .select({ state: jobs.result })
        .from(jobs)
        .where(and(eq(jobs.id, id), isUnfinished))
      return row?.state ?? null
    },
    async find(id: string): Promise<Job | null> {
      if (!JOB_ID.test(id)) return null
      const [row] = await db.select().from(jobs).where(eq(jobs.id, id))
      return row ? toJob(row) : null
    },
    /** An unfinished job as it is stored: how often it went on, and whether somebody has asked to cancel it. */
    async findUnfinished(id: string): Promise<{ restarts: number | undefined; isCancelled: boolean } | null> {
      const [row] = await db
        .select({ progress: jobs.progress, isCancelled: jobs.isCancelled })
        .from(jobs)
        .where(and(eq(jobs.id, id), isUnfinished))
      return row ? { restarts: row.progress.restarts, isCancelled: row.isCancelled === true } : null
    },
    /** Stores the request to cancel an unfinished job, or all of an account. Returns their ids. */
    async requestCancel(of: { id: string } | { userId: string }): Promise<string[]> {
      if ('id' in of && !JOB_ID.test(of.id)) return []
      const isAsked = 'id' in of ? eq(jobs.id, of.id) : eq(jobs.userId, of.userId)
      const rows = await db
        .update(jobs)
        .set({ isCancelled: true })
        .where(and(isAsked, isUnfinished))
        .returning({ id: jobs.id })
      return rows.map(({ id }) => id)
    },
    async list(of: {
      baseId?: string
      userId?: string
      kind?: string
      unfinished?: boolean
    }): Promise<Job[]> {
      const conditions = [
        of.baseId === undefined ? undefined : eq(jobs.baseId, of.baseId),
        of.userId === undefined ? undefined : eq(jobs.userId, of.userId),
        of.kind === undefined ? undefined : eq(jobs.kind, of.kind),
        of.unfinished ? isUnfinished : undefined,
      ]
      const rows = await db
        .select()
        .from(jobs)
        .where(and(...conditions))
        .orderBy(desc(jobs.createdAt), desc(jobs.id))
        .limit(LISTED)
      return rows.map(toJob)
    },
    /** Unfinished jobs with their inputs, oldest first. */
    async unfinished(): Promise<{ job: Job; input: unknown }[]> {
      const rows = await db.select().from(jobs).where(isUnfinished).orderBy(jobs.createdAt)
      return rows.map((row) => ({ job: toJob(row), input: row.input }))
    },
    async forgetOld(): Promise<void> {
      await db.delete(jobs).where(lt(jobs.updatedAt, new Date(nowMs() - KEPT_MS).toISOString()))
    },
  }
}

/** Texts of connected databases and files may have characters that PostgreSQL cannot store. */
const storable = <T>(value: T): T => JSON.parse(storableJson(JSON.stringify(value ?? null)))

type Row = ReturnType<typeof defineJobsTable>['$inferSelect']

function toJob({ input, isCancelled: _, ...job }: Row): Job {
  const result = hasEnded(job.status) ? (job.result ?? null) : null
  return { ...job, subject: subjectOf(input), group: groupOf(input), result }
}

/** The group of a job from its input. */
export function groupOf(input: unknown): string | null {
  const { group } = (input ?? {}) as { group?: unknown }
  return typeof group === 'string' ? group : null
}

/** Display name of a job from its input: a file name, or the title of the copy. */
export function subjectOf(input: unknown): string | null {
  const { fileName, title } = (input ?? {}) as { fileName?: unknown; title?: unknown }
  return ([fileName, title].find((name) => typeof name === 'string' && name !== '') as string | null) ?? null
}
