import { basename } from 'node:path'
import type { UserActor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import { hasEnded, type Job } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { FileOptions, WriteFile } from './export-job.ts'
import { FILE_IMPORT_JOB, type FileImported, type FileImportInput } from './import-job.ts'

/** Whoever runs commands on the server may read and write all its data. */
const OPERATOR: UserActor = { kind: 'user', id: 'operator', email: '', orgRoles: ['super'], via: 'session' }

/** Called with the number of records so far. */
interface Following {
  signal: AbortSignal
  progress(rows: number): void
}

/** Exports and imports for the operator of an installation. */
export function createOperator(
  { jobs, events }: Pick<Kernel, 'jobs' | 'events'>,
  { bases, auth }: { bases: Pick<BasesService, 'list'>; auth: Pick<AuthService, 'peopleByEmail'> },
  writeFile: WriteFile,
) {
  async function baseNamed(name: string): Promise<{ id: string; title: string }> {
    const all = await bases.list(OPERATOR)
    const byId = all.find(({ id }) => id === name)
    if (byId) return byId
    const [found, ...others] = all.filter(({ title }) => title === name)
    if (!found) throw new Error(`There is no base “${name}”`)
    if (others.length > 0) {
      const ids = [found, ...others].map(({ id }) => id).join(', ')
      throw new Error(`Several bases are called “${name}”. Name one by its id: ${ids}`)
    }
    return found
  }

  /** Resolves when the job has ended. */
  async function ended(jobId: string, { signal, progress }: Following): Promise<Job> {
    const cancel = () => void jobs.cancel(jobId)
    const last = Promise.withResolvers<Job>()
    const stop = events.on('job.changed', (job) => {
      if (job.id !== jobId) return
      progress(job.progress.done)
      if (hasEnded(job.status)) last.resolve(job)
    })
    signal.addEventListener('abort', cancel)
    try {
      if (signal.aborted) cancel()
      const now = await jobs.find(jobId)
      return now && hasEnded(now.status) ? now : await last.promise
    } finally {
      signal.removeEventListener('abort', cancel)
      stop()
    }
  }

  return {
    /**
     * Writes a base into a file.
     *
     * @param base id or title
     * @param path where no file is
     */
    async write(
      base: string,
      path: string,
      options: FileOptions,
      { signal, progress }: Following,
    ): Promise<{ title: string }> {
      const { id: baseId, title } = await baseNamed(base)
      const report = ({ done }: { done?: number }) => progress(done ?? 0)
      await writeFile(path, { actor: OPERATOR, baseId, options }, { signal, report })
      return { title }
    },

    /** Opens a file as a base of an account. As a job, so that a server removes what a killed process has left. */
    async open(
      path: string,
      { owner, withHistory }: { owner: string; withHistory: boolean },
      following: Following,
    ): Promise<FileImported> {
      const [person] = await auth.peopleByEmail(OPERATOR, [owner])
      if (!person) throw new Error(`There is no account with the e-mail address ${owner}`)
      const input: FileImportInput = {
        actor: { ...OPERATOR, id: person.id, email: person.email },
        file: { path },
        fileName: basename(path),
        newBaseId: createId('base'),
        withHistory,
      }
      const { id } = await jobs.start(FILE_IMPORT_JOB, { userId: person.id, baseId: null, input })
      const job = await ended(id, following)
      if (job.status !== 'completed') throw new Error(job.error ?? `The import is ${job.status}`)
      return job.result as FileImported
    },
  }
}
