import { IMPORT_STEPS, type ImportProblem, type ImportStep } from '../../src/core/base-imports.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createHttpClient } from '../../src/http.ts'
import type { JobContext, JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { explainStorage } from '../../src/storage-full.ts'
import type { AuthService } from '../auth/index.ts'
import type { ImportsService } from '../imports/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createFileReceiver } from './receive-file.ts'
import { chosenMembers, createRoster, MATCH, PERSON } from './roster.ts'
import type { SourceContext } from './source.ts'
import { SOURCES } from './sources/index.ts'
import { type ImportRow, type ImportStore, MAX_PROBLEMS } from './store.ts'
import {
  problem,
  type ReceiveFile,
  type RunContext,
  writeComments,
  writeComputed,
  writeLinks,
  writeRecords,
  writeSchema,
  writeViews,
} from './writer/index.ts'

export const BASE_IMPORT_JOB = 'base-import'

export interface BaseImportInput {
  importId: string
  /** Names the job. */
  title: string
}

interface Deps {
  kernel: Kernel
  store: ImportStore
  services: {
    auth: Pick<AuthService, 'peopleOf'>
    schema: SchemaService
    views: ViewsService
    records: RecordsService
    imports: Pick<ImportsService, 'upload'>
  }
}

/** What the sources may use on behalf of a user. */
export const sourceContext = (
  { config }: Pick<Kernel, 'config'>,
  imports: Pick<ImportsService, 'upload'>,
  actor: ImportRow['actor'],
  signal: AbortSignal,
): SourceContext => ({
  http: createHttpClient(config),
  airtableApi: config.airtableApiUrl,
  airtablePerSecond: config.airtableRequestsPerSecond,
  upload: (uploadId) => imports.upload(actor, uploadId),
  signal,
})

type Step = (context: RunContext, receive: ReceiveFile) => Promise<void>

const STEPS: Record<ImportStep, Step> = {
  schema: async () => {},
  records: writeRecords,
  links: writeLinks,
  computed: writeComputed,
  comments: writeComments,
  views: writeViews,
}

/**
 * The job that runs an import, or goes on with it after a pause or a restart: what it has done is stored after each page,
 * and every step recognizes what is there already.
 */
export function createBaseImportJob({ kernel, store, services }: Deps): JobKind<BaseImportInput> {
  async function run(
    { importId }: BaseImportInput,
    job: JobContext,
  ): Promise<{ importId: string; baseId: string }> {
    const row = await store.find(importId)
    if (row?.status !== 'running' || row.jobId !== job.jobId || row.baseId === null) {
      throw new AppError('CONFLICT', m.base_imports_error_not_running())
    }
    try {
      await runSteps({ ...row, baseId: row.baseId }, job)
      await finish(row)
      return { importId, baseId: row.baseId }
    } catch (error) {
      // Paused, cancelled, or interrupted by a stop of the server, after which it goes on.
      if (!job.signal.aborted) await fail(row, error)
      throw error
    }
  }

  async function runSteps(
    row: RunContext['row'],
    { signal, report: reportProgress }: JobContext,
  ): Promise<void> {
    const source = sourceContext(kernel, services.imports, row.actor, signal)
    const credentials = store.openCredentials(row)
    if (credentials === null) throw badRequest(m.base_imports_error_no_credentials())
    const connection = SOURCES[row.source].open(credentials, source)
    try {
      const context = await openRun(row, connection, signal, reportProgress)
      const { attachments } = services.records
      const receive = createFileReceiver({ http: source.http, attachments, userId: row.userId })
      await writeSchema(context)
      const { state } = context
      for (const step of IMPORT_STEPS.slice(IMPORT_STEPS.indexOf(state.step))) {
        if (state.step !== step) {
          state.step = step
          await context.save()
        }
        signal.throwIfAborted()
        await STEPS[step](context, receive)
      }
    } finally {
      connection.close?.()
    }
  }

  async function openRun(
    row: RunContext['row'],
    connection: RunContext['connection'],
    signal: AbortSignal,
    reportProgress: JobContext['report'],
  ): Promise<RunContext> {
    const { state } = row
    const [base, members, chosen, people, counts] = await Promise.all([
      connection.describe(row.sourceBaseId),
      services.auth.peopleOf(row.baseId),
      store.objects(row.id, MATCH),
      store.objects(row.id, PERSON),
      store.countProblems([row.id]),
    ])
    let lines = counts.get(row.id) ?? 0
    return {
      kernel,
      services,
      store,
      row,
      state,
      // All that one run writes is one action for undo.
      actor: { ...row.actor, actionId: `${row.id}-${row.run}` },
      connection,
      base,
      tables: new Map(),
      roster: createRoster(members, chosenMembers(chosen), people, row.run),
      signal,
      async report(problems) {
        if (problems.length === 0 || lines > MAX_PROBLEMS) return
        const room = problems.slice(0, MAX_PROBLEMS - lines)
        const isCut = room.length < problems.length
        const rest: ImportProblem[] = isCut
          ? [problem('note', m.base_imports_note_report_cut({ max: MAX_PROBLEMS }))]
          : []
        lines += await store.report(row.id, row.run, [...room, ...rest])
      },
      async save(statements = []) {
        await kernel.meta.atomically([...statements, store.savingState(row.id, state)])
        const done = state.tables.reduce((sum, { read }) => sum + read, 0)
        reportProgress({ done, total: null, unit: 'rows' })
      },
    }
  }

  async function finish(row: ImportRow): Promise<void> {
    await store.clearPending(row.id)
    await store.change(row, { status: 'completed', ...(!row.keepsCredentials && { credentials: null }) })
  }

  async function fail(row: ImportRow, error: unknown): Promise<void> {
    const reason = explainStorage(error)
    if (reason instanceof AppError && reason.code === 'DATABASE_UNREACHABLE') return
    const message = reason instanceof AppError ? reason.message : m.request_error_unexpected()
    await store.change(row, { status: 'failed', error: message })
  }

  // An interrupted run is started again by the service: see `resumeInterrupted`.
  return { run, recover: async () => null, isWaiting: true }
}
