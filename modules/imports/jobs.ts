import type { Actor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { Job } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { VISITOR } from '../records/index.ts'

/** The jobs as people may see them: their own, and those of the bases they may open. */
export function createJobsAccess({ jobs }: Pick<Kernel, 'jobs'>, access: AuthService['access']) {
  /** @throws JOB_NOT_FOUND, also where the actor may not see it */
  async function get(actor: Actor, jobId: string): Promise<Job> {
    const job = await jobs.find(jobId)
    if (!job) throw notFound('Job', jobId.slice(0, 64))
    if (actor.kind === 'user' && job.userId === actor.id) return job
    // Started by a link: its id, which nobody guesses, is all that its visitor has.
    if (job.userId === VISITOR) return job
    // Those of members may tell of people and files what a link does not.
    if (actor.kind === 'share') throw notFound('Job', job.id)
    if (job.baseId === null || (await access.baseRole(actor, job.baseId)) === null)
      throw notFound('Job', job.id)
    await access.authorize(actor, 'base.read', job.baseId)
    return job
  }

  return {
    get,
    /** Asks a job to end: one's own, or any of a base that one may change. */
    async cancel(actor: Actor, jobId: string): Promise<void> {
      const job = await get(actor, jobId)
      const isOwn = actor.kind === 'user' && job.userId === actor.id
      if (!isOwn) await access.authorize(actor, 'import.create', job.baseId ?? '')
      await jobs.cancel(job.id)
    },
    /**
     * The actor's own jobs that have not ended, so that a page that was opened anew can show them.
     *
     * @param pageAgeMs leaves out those that were started since: the page knows of its own
     */
    async unfinished(actor: Actor, pageAgeMs = 0): Promise<Job[]> {
      const openedAt = new Date(Date.now() - pageAgeMs).toISOString()
      if (actor.kind !== 'user')
        throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
      const own = await jobs.list({ userId: actor.id, unfinished: true })
      return own.filter(({ createdAt }) => createdAt <= openedAt)
    },
    /** The jobs of a base, newest first. */
    async ofBase(actor: Actor, baseId: string, kind?: string): Promise<Job[]> {
      await access.authorize(actor, 'base.read', baseId)
      return jobs.list({ baseId, kind })
    },
  }
}
