import { nowIso } from '../../src/clock.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import {
  type BaseImport,
  type BaseSourceKind,
  canSyncAgain,
  type ImportChoices,
  type ImportedPerson,
  type ImportProblem,
} from '../../src/core/base-imports.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createId, randomText } from '../../src/core/ids.ts'
import type { Person } from '../../src/core/model.ts'
import { hasEnded } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { ImportsService } from '../imports/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { chosenMembers, MATCH, PERSON, presentPeople, toldPeople } from './roster.ts'
import { BASE_IMPORT_JOB, type BaseImportInput, createBaseImportJob, sourceContext } from './run.ts'
import type { SourceConnection } from './source.ts'
import { SOURCES, type SourceInput } from './sources/index.ts'
import { createImportStore, type ImportRow, startOfRun } from './store.ts'

/** Time limit for connecting to a source while its user waits. */
const CONNECT_TIMEOUT_MS = 90_000
/** Lines of the report that one page shows. */
const MAX_LINES = 200
/** People that one answer names. */
const MAX_PEOPLE_SHOWN = 1000

interface Services {
  auth: Pick<AuthService, 'access' | 'peopleOf' | 'users'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
  imports: Pick<ImportsService, 'upload'>
}

export type StartImport = SourceInput & {
  sourceBaseId: string
  /** Title of the new base, and of the import. */
  title: string
  /** The base that gets the tables; absent: a new one. */
  baseId?: string | undefined
  choices: ImportChoices
  keepCredentials: boolean
  /** Pauses before the first run, with the people of the source listed, so that members can be chosen for them. */
  matchFirst: boolean
}

/** A run that is cancelled. The credentials that an import keeps stay for the next one, unless the first run has not been completed. */
const endOfRun = (
  { keepsCredentials, run }: Pick<ImportRow, 'keepsCredentials' | 'run'>,
  { forgets }: { forgets: boolean },
): Partial<ImportRow> => ({
  status: 'cancelled',
  ...((forgets || !keepsCredentials || run === 1) && { credentials: null }),
})

export type BaseImportsService = ReturnType<typeof createBaseImportsService>

/** Imports of whole bases from other products. Each belongs to the person who started it, as whom it writes. */
export function createBaseImportsService(kernel: Kernel, services: Services) {
  const { auth, bases, schema } = services
  const { jobs, events, log } = kernel
  const store = createImportStore(kernel)
  kernel.jobs.register(BASE_IMPORT_JOB, createBaseImportJob({ kernel, store, services }))
  kernel.removals.push(store.forRemovedBase)
  kernel.accountRemovals.push(store.forRemovedAccount)

  // A job whose server was stopped or killed has failed, but the import goes on with another job. One that was cancelled ends it.
  events.on('job.changed', ({ id, kind, status }) => {
    const isEnd = status === 'failed' || status === 'cancelled'
    if (kind !== BASE_IMPORT_JOB || !isEnd || kernel.shutdown.hasBegun) return
    resumeInterrupted(id).catch((error) => log.error('an import could not be resumed', error, { jobId: id }))
  })

  async function resumeInterrupted(jobId?: string): Promise<void> {
    for (const row of await store.running()) {
      if (jobId !== undefined && row.jobId !== jobId) continue
      const job = row.jobId === null ? null : await jobs.find(row.jobId)
      const forgets = await isDeleted(row.userId)
      if (forgets || job?.status === 'cancelled') await store.change(row, endOfRun(row, { forgets }))
      else if (!job || hasEnded(job.status)) await begin(row)
    }
  }

  const isDeleted = async (userId: string): Promise<boolean> => (await auth.users.find(userId)) === null

  /** Runs an import, unless another server has begun to, or it has been paused or cancelled. */
  async function begin(row: ImportRow): Promise<void> {
    const jobId = createId('job')
    if (!(await store.change(row, { jobId, error: null }))) return
    const input: BaseImportInput = { importId: row.id, title: row.title }
    await jobs.start(BASE_IMPORT_JOB, { id: jobId, userId: row.userId, baseId: row.baseId, input })
  }

  /** @throws NOT_FOUND, also for imports of other people */
  async function own(actor: Actor, importId: string): Promise<{ row: ImportRow; user: UserActor }> {
    await auth.access.authorize(actor, 'account.read')
    const user = requireUser(actor)
    const row = await store.find(importId)
    if (row?.userId !== user.id) throw new AppError('NOT_FOUND', m.base_imports_error_not_found())
    return { row, user }
  }

  /** The right to create a base, or tables in the given one. */
  async function authorize(actor: Actor, baseId: string | null | undefined): Promise<UserActor> {
    if (baseId == null) await auth.access.authorize(actor, 'base.create')
    else await bases.enter(actor, 'import.create', baseId)
    return requireUser(actor)
  }

  async function connect<T>(
    user: UserActor,
    { source, credentials }: { source: BaseSourceKind; credentials: unknown },
    work: (connection: SourceConnection) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS)
    const connection = SOURCES[source].open(
      credentials,
      sourceContext(kernel, services.imports, user, signal),
    )
    try {
      return await work(connection)
    } catch (error) {
      if (signal.aborted) throw badRequest(m.base_imports_error_slow())
      throw error
    } finally {
      connection.close?.()
    }
  }

  async function present(rows: readonly ImportRow[]): Promise<BaseImport[]> {
    const problems = await store.countProblems(rows.map(({ id }) => id))
    return rows.map(
      ({ userId: _, actor: __, keepsCredentials: ___, jobId: ____, state, credentials, ...row }) => ({
        ...row,
        step: state.step,
        tables: state.tables,
        counts: state.counts,
        problems: problems.get(row.id) ?? 0,
        hasCredentials: credentials !== null,
      }),
    )
  }

  const presentOne = async (row: ImportRow): Promise<BaseImport> => (await present([row]))[0]!

  /** Starts the next run of an import, or goes on with the present one. */
  async function goOn(row: ImportRow, patch: Partial<ImportRow>): Promise<BaseImport> {
    // Without the former job, whose end may still be on its way.
    const next = { ...patch, jobId: null }
    if (await store.change(row, next)) await begin({ ...row, ...next })
    return presentOne((await store.find(row.id)) ?? row)
  }

  /** Cancels the job that runs an import by now, and returns its id. */
  async function cancelJob(importId: string): Promise<string | null> {
    const jobId = (await store.find(importId))?.jobId ?? null
    if (jobId !== null) await jobs.cancel(jobId)
    return jobId
  }

  function newCredentials(row: ImportRow, credentials: unknown): string {
    if (credentials === undefined) {
      if (row.credentials === null) throw badRequest(m.base_imports_error_no_credentials())
      return row.credentials
    }
    const parsed = SOURCES[row.source].credentials.safeParse(credentials)
    if (!parsed.success) throw badRequest(m.base_imports_error_credentials())
    return store.sealCredentials(parsed.data)
  }

  return {
    start: (): Promise<void> => resumeInterrupted(),

    /**
     * Connects to a source and lists its bases.
     *
     * @throws BAD_REQUEST with the reason if it cannot be reached or rejects the credentials
     */
    async inspect(
      actor: Actor,
      input: SourceInput & { baseId?: string | undefined },
    ): Promise<{ id: string; title: string }[]> {
      const user = await authorize(actor, input.baseId)
      return connect(user, input, (connection) => connection.bases())
    },

    /** The tables of a base in a source, for the choice of what to bring. @throws as `inspect` */
    async describe(
      actor: Actor,
      input: SourceInput & { sourceBaseId: string; baseId?: string | undefined },
    ): Promise<{
      title: string
      tables: { title: string; fields: number; views: number; computed: number }[]
    }> {
      const user = await authorize(actor, input.baseId)
      const base = await connect(user, input, (connection) => connection.describe(input.sourceBaseId))
      return {
        title: base.title,
        tables: base.tables.map(({ title, fields, views }) => ({
          title,
          fields: fields.length,
          views: views.length,
          computed: fields.filter(({ plan }) => plan.as === 'computed').length,
        })),
      }
    },

    /**
     * Imports a base: into a new one, which is there at once, or as further tables of an existing one.
     *
     * @throws PERMISSION_DENIED; AUTHENTICATION_REQUIRED if the account is deleted meanwhile; BAD_REQUEST if people are to be matched first and the source
     *   does not tell them; as `inspect`
     */
    async begin(actor: Actor, input: StartImport): Promise<BaseImport> {
      const user = await authorize(actor, input.baseId)
      const { source, sourceBaseId, title, choices, keepCredentials, matchFirst } = input
      // Fails before anything is created.
      const people = await connect(user, input, async (connection) => {
        await connection.describe(sourceBaseId)
        return matchFirst ? toldPeople((await connection.people?.(sourceBaseId)) ?? []) : []
      })
      if (matchFirst && people.length === 0) throw badRequest(m.base_imports_error_people_not_told())
      const signedOut = () => new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
      // The source may take minutes to answer.
      if (await isDeleted(user.id)) throw signedOut()
      const baseId =
        input.baseId ?? (await bases.create(user, { title: await bases.copies.freeTitle(title) })).id
      const now = nowIso()
      const row: ImportRow = {
        id: `imp${randomText(14)}`,
        userId: user.id,
        baseId,
        createsBase: input.baseId === undefined,
        source,
        sourceBaseId,
        title,
        choices,
        actor: user,
        credentials: store.sealCredentials(input.credentials),
        keepsCredentials: keepCredentials,
        status: matchFirst ? 'paused' : 'running',
        error: null,
        jobId: null,
        run: 1,
        state: startOfRun(),
        createdAt: now,
        updatedAt: now,
      }
      await store.insert(row)
      // A deletion of the account that was just before this has not found the import.
      if (await isDeleted(user.id)) {
        await store.change(row, endOfRun(row, { forgets: true }))
        throw signedOut()
      }
      if (matchFirst) await kernel.meta.atomically(store.storing(row.id, PERSON, people))
      else await begin(row)
      return presentOne((await store.find(row.id)) ?? row)
    },

    async get(actor: Actor, importId: string): Promise<BaseImport> {
      return presentOne((await own(actor, importId)).row)
    },

    /** The actor's imports, newest first; with a base, those into it. */
    async list(actor: Actor, baseId?: string): Promise<BaseImport[]> {
      await auth.access.authorize(actor, 'account.read')
      const rows = await store.ofUser(requireUser(actor).id)
      return present(baseId === undefined ? rows : rows.filter((row) => row.baseId === baseId))
    },

    /** @throws CONFLICT unless it is running */
    async pause(actor: Actor, importId: string): Promise<void> {
      const { row } = await own(actor, importId)
      const { id } = row
      if (row.status !== 'running' || !(await store.change({ id, status: 'running' }, { status: 'paused' })))
        throw new AppError('CONFLICT', m.base_imports_error_not_running())
      await cancelJob(id)
    },

    /**
     * Goes on with a paused or failed import.
     *
     * @throws CONFLICT for another state; BAD_REQUEST if it needs credentials; PERMISSION_DENIED
     */
    async resume(actor: Actor, importId: string, credentials?: unknown): Promise<BaseImport> {
      const { row } = await own(actor, importId)
      if (row.status !== 'paused' && row.status !== 'failed')
        throw new AppError('CONFLICT', m.base_imports_error_not_paused())
      const user = await authorize(actor, row.baseId)
      return goOn(row, { actor: user, credentials: newCredentials(row, credentials), status: 'running' })
    },

    /**
     * Imports again what has changed in the source since the last run.
     *
     * @throws CONFLICT while it runs, is paused or has failed, and if its first run was cancelled; BAD_REQUEST if it needs credentials; PERMISSION_DENIED
     */
    async again(
      actor: Actor,
      importId: string,
      {
        credentials,
        removeMissing,
        compareComments,
        names,
      }: {
        credentials?: unknown
        removeMissing?: boolean | undefined
        compareComments?: boolean | undefined
        names?: boolean | undefined
      },
    ): Promise<BaseImport> {
      const { row } = await own(actor, importId)
      if (!canSyncAgain(row)) throw new AppError('CONFLICT', m.base_imports_error_not_completed())
      const user = await authorize(actor, row.baseId)
      const run = row.run + 1
      const sealed = newCredentials(row, credentials)
      await store.startReport(row.id, run)
      return goOn(row, {
        actor: user,
        credentials: sealed,
        status: 'running',
        run,
        state: startOfRun(),
        choices: {
          ...row.choices,
          ...(removeMissing !== undefined && { removeMissing }),
          ...(compareComments !== undefined && { compareComments }),
          ...(names !== undefined && { names }),
        },
      })
    },

    /**
     * Ends a run that has not been completed. The import of changes may be started again.
     *
     * @param removes true: the base that it created, or its tables, go to the trash
     */
    async cancel(actor: Actor, importId: string, removes: boolean): Promise<void> {
      const { row } = await own(actor, importId)
      const { id, status } = row
      const patch = endOfRun(row, { forgets: removes })
      if (status === 'completed' || status === 'cancelled' || !(await store.change({ id, status }, patch)))
        throw new AppError('CONFLICT', m.base_imports_error_not_running())
      const jobId = await cancelJob(id)
      if (jobId !== null) await ended(jobId)
      if (!removes || row.baseId === null) return
      if (row.createsBase) {
        await bases.delete(actor, row.baseId)
        return
      }
      for (const { targetId } of (await store.objects(row.id, 'table')).values()) {
        if (await schema.hasTable(targetId)) await schema.deleteTable(actor, targetId)
      }
    },

    /** Deletes the stored credentials; importing again asks for them. */
    async forgetCredentials(actor: Actor, importId: string): Promise<void> {
      const { row } = await own(actor, importId)
      const { id, status } = row
      const patch = { credentials: null, keepsCredentials: false }
      if (status === 'running' || !(await store.change({ id, status }, patch)))
        throw new AppError('CONFLICT', m.base_imports_error_running())
    },

    /**
     * The people whom the runs have found in the source, or whom it has told before the first one, and the members of the base.
     *
     * @throws NOT_FOUND; PERMISSION_DENIED without the right to import into the base
     */
    async people(
      actor: Actor,
      importId: string,
    ): Promise<{ people: ImportedPerson[]; total: number; members: Person[] }> {
      const { row } = await own(actor, importId)
      const { people, members } = await peopleOf(actor, row)
      return { people: people.slice(0, MAX_PEOPLE_SHOWN), total: people.length, members }
    },

    /**
     * Chooses the member who stands for a person of the source, from the next run on.
     *
     * @param memberId null: nobody; undefined: whoever has the e-mail address of the person
     * @throws NOT_FOUND for unknown people; BAD_REQUEST for somebody who is not a member; PERMISSION_DENIED
     */
    async match(
      actor: Actor,
      importId: string,
      key: string,
      memberId: string | null | undefined,
    ): Promise<ImportedPerson> {
      const { row } = await own(actor, importId)
      const find = async () => {
        const { people, members } = await peopleOf(actor, row)
        const person = people.find((one) => one.key === key)
        if (!person) throw new AppError('NOT_FOUND', m.base_imports_error_no_person())
        return { person, members }
      }
      const { members } = await find()
      if (memberId === undefined) await store.forget(row.id, MATCH, [key])
      else {
        if (memberId !== null && !members.some(({ id }) => id === memberId))
          throw badRequest(m.base_imports_error_no_member())
        const choice = { sourceId: key, targetId: memberId ?? '', digest: null, pending: null, run: row.run }
        await kernel.meta.atomically(store.storing(row.id, MATCH, [choice]))
      }
      return (await find()).person
    },

    /** The first lines of the report. */
    async report(actor: Actor, importId: string): Promise<ImportProblem[]> {
      const { row } = await own(actor, importId)
      return store.problems(row.id, MAX_LINES, 0)
    },

    /** Lines of the report. @throws NOT_FOUND */
    async reportLines(
      actor: Actor,
      importId: string,
      { limit, offset }: { limit: number; offset: number },
    ): Promise<{ lines: ImportProblem[]; isLast: boolean }> {
      const { row } = await own(actor, importId)
      const lines = await store.problems(row.id, limit + 1, offset)
      return { lines: lines.slice(0, limit), isLast: lines.length <= limit }
    },

    /** The whole report, page by page. @throws NOT_FOUND */
    async openReport(
      actor: Actor,
      importId: string,
    ): Promise<{ title: string; lines: AsyncGenerator<ImportProblem[]> }> {
      const { row } = await own(actor, importId)
      return { title: row.title, lines: pagesOf(row.id) }
    },
  }

  async function peopleOf(
    actor: Actor,
    row: ImportRow,
  ): Promise<{ people: ImportedPerson[]; members: Person[] }> {
    await authorize(actor, row.baseId)
    const [members, found, chosen] = await Promise.all([
      row.baseId === null ? [] : auth.peopleOf(row.baseId),
      store.objects(row.id, PERSON),
      store.objects(row.id, MATCH),
    ])
    const isBeforeEnd = row.run === 1 && row.status !== 'completed'
    return { people: presentPeople(members, chosenMembers(chosen), found, isBeforeEnd), members }
  }

  async function* pagesOf(importId: string): AsyncGenerator<ImportProblem[]> {
    const size = 1000
    for (let offset = 0; ; offset += size) {
      const page = await store.problems(importId, size, offset)
      if (page.length > 0) yield page
      if (page.length < size) return
    }
  }

  /** Waits, for some seconds at most, until a cancelled job has ended. */
  async function ended(jobId: string): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      const job = await jobs.find(jobId)
      if (!job || hasEnded(job.status)) return
      await Bun.sleep(100)
    }
  }
}
