import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import type { LinkResult } from '../../../src/core/imports/link-result.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { onJob } from '../../socket.ts'
import { api, cache, type Inputs, type Outputs } from '../../trpc.ts'
import { type ExportedFile, isExportJob } from '../exports/run-export.ts'
import { readJob } from '../sources/jobs.ts'
import type { ImportSource } from './source.ts'
import { uploadSource } from './transfer.ts'

/** Poll interval while there are no live updates. */
const POLL_MS = 700

/** Job kind of imports, and of the job that links the columns of their tables. */
export const IMPORT_JOB = 'import'
export const LINK_JOB = 'import-links'

/** An import that this page started, or a job that was running when it was opened. */
export interface ImportRun {
  id: number
  /** `import`, or the kind of a job that was running when the page was opened. */
  kind: string
  baseId: string
  /** Shared by the runs of one start; null for a run of its own. */
  group: string | null
  fileName: string
  status: 'uploading' | 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
  /** Null until the upload has finished. */
  jobId: string | null
  /** Null until the upload has finished, and for runs of other pages. */
  uploadId: string | null
  /** Bytes sent, of `size`. */
  sent: number
  size: number
  /** True while the connection is lost; the upload goes on by itself. */
  isOffline: boolean
  /** Rows written; their total is unknown at first. */
  rows: number
  totalRows: number | null
  /** The tables that a job is linking. */
  linking: Job['progress']['link'] | null
  startedAt: number
  endedAt: number | null
  result: ImportResult | null
  /** What a finished job has linked. */
  links: LinkResult | null
  /** File of a finished export. */
  file: ExportedFile | null
  error: string | null
}

type Job = Outputs['jobs']['get']
type StartInput = Inputs['imports']['start']

const runs = createStore<readonly ImportRun[]>(() => [])
let nextId = 1
const controllers = new Map<number, AbortController>()

export const hasEnded = ({ status }: ImportRun): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

function update(id: number, patch: Partial<ImportRun>): void {
  runs.setState((all) => all.map((run) => (run.id === id ? { ...run, ...patch } : run)), true)
}

const find = (id: number): ImportRun | undefined => runs.getState().find((run) => run.id === id)

/** A table of a file to import; `inputOf` gets the id of the upload. */
export interface TableRun {
  source: ImportSource
  /** Name for the user. */
  name: string
  inputOf: (uploadId: string) => StartInput
}

interface StartOptions {
  /** True if columns become links, which is a run of its own, the last one. */
  hasLinks: boolean
  /** The upload of a file that was analysed on the server or sent before. */
  uploadOf: (source: ImportSource) => Promise<string> | undefined
}

/**
 * Uploads files and imports their tables together, even if the dialog is closed meanwhile.
 * @returns the ids of the runs, in the order of the tables
 */
export function startRuns(baseId: string, tables: readonly TableRun[], options: StartOptions): number[] {
  const group = tables.length > 1 || options.hasLinks ? `start ${nextId}` : null
  const ids = tables.map(({ name, source }) =>
    addRun({ kind: IMPORT_JOB, baseId, group, fileName: name, status: 'uploading', size: source.size }),
  )
  if (options.hasLinks)
    ids.push(addRun({ kind: LINK_JOB, baseId, group, fileName: m.imports_links(), status: 'waiting' }))
  void carryOut(ids, tables, options.uploadOf)
  return ids
}

/** Tracks a job that another page started. */
export function followUnfinished(job: Job, name: string): void {
  const { id: jobId, kind, baseId, group, status, progress, error, createdAt } = job
  const id = addRun({
    kind,
    baseId: baseId ?? '',
    group,
    fileName: name,
    status: status === 'active' ? 'active' : 'waiting',
    jobId,
    error,
    rows: progress.done,
    totalRows: progress.total,
    linking: progress.link ?? null,
    startedAt: Date.parse(createdAt),
  })
  follow(id, jobId).catch((failure) =>
    update(id, { status: 'failed', error: messageOf(failure), endedAt: Date.now() }),
  )
}

function addRun(
  known: Pick<ImportRun, 'kind' | 'baseId' | 'fileName' | 'status'> & Partial<ImportRun>,
): number {
  const run: ImportRun = {
    id: nextId++,
    group: null,
    jobId: null,
    uploadId: null,
    sent: 0,
    size: 0,
    isOffline: false,
    rows: 0,
    totalRows: null,
    linking: null,
    startedAt: Date.now(),
    endedAt: null,
    result: null,
    links: null,
    file: null,
    error: null,
    ...known,
  }
  runs.setState((all) => [...all, run], true)
  return run.id
}

async function carryOut(
  ids: readonly number[],
  tables: readonly TableRun[],
  uploadOf: StartOptions['uploadOf'],
): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  for (const id of ids) controllers.set(id, controller)
  const end = (id: number, error: unknown) =>
    update(id, {
      ...(signal.aborted ? { status: 'cancelled' } : { status: 'failed', error: messageOf(error) }),
      endedAt: Date.now(),
    })
  try {
    const uploads = new Map<ImportSource, Promise<string>>()
    for (const { source } of tables) {
      if (uploads.has(source)) continue
      const own = ids.filter((_, at) => tables[at]?.source === source)
      const change = (patch: Partial<ImportRun>) => {
        for (const id of own) update(id, patch)
      }
      const onProgress = (sent: number) => change({ sent })
      const onLost = (isOffline: boolean) => change({ isOffline })
      uploads.set(source, uploadOf(source) ?? uploadSource(source, { signal, onProgress, onLost }))
    }
    await Promise.all(uploads.values())
    const uploadIds = await Promise.all(tables.map(({ source }) => uploads.get(source) ?? ''))
    const inputs = tables.map(({ inputOf }, at) => inputOf(uploadIds[at] ?? ''))
    const started = await api.imports.startAll.mutate(inputs)
    // Cancelled while the server started them.
    if (signal.aborted) await Promise.all(started.map(({ jobId }) => api.jobs.cancel.mutate({ jobId })))
    await Promise.all(
      ids.map(async (id, at) => {
        const jobId = started[at]?.jobId ?? ''
        const sent = tables[at]?.source.size ?? 0
        update(id, { jobId, uploadId: uploadIds[at] ?? null, status: 'waiting', sent })
        await follow(id, jobId).catch((error) => end(id, error))
      }),
    )
  } catch (error) {
    for (const id of ids) end(id, error)
  } finally {
    for (const id of ids) controllers.delete(id)
  }
}

/** Updates a run from its job until the job has ended. */
async function follow(id: number, jobId: string): Promise<void> {
  let wake = () => {}
  const unsubscribe = onJob((job) => job.id === jobId && wake())
  try {
    for (;;) {
      const news = new Promise<void>((resolve) => {
        wake = resolve
      })
      // A lost connection or a restart of the server does not end the job.
      const job = await readJob(jobId)
      if (job) show(id, job)
      const run = find(id)
      if (!run || hasEnded(run)) return
      // Live updates may come several times a second, or not at all.
      await Promise.all([Promise.race([news, sleep(POLL_MS)]), sleep(150)])
    }
  } finally {
    unsubscribe()
  }
}

function show(id: number, job: Job): void {
  const { status, progress, error } = job
  const kind = find(id)?.kind ?? ''
  const isExport = isExportJob(kind)
  const isLinks = kind === LINK_JOB
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled'
  update(id, {
    status,
    error,
    rows: progress.done,
    totalRows: progress.total,
    linking: progress.link ?? null,
    ...(isOver && { endedAt: Date.now() }),
    ...(isOver && isExport && { file: (job.result ?? null) as ExportedFile | null }),
    ...(isOver && isLinks && { links: (job.result ?? null) as LinkResult | null }),
    ...(isOver && !isExport && !isLinks && { result: (job.result ?? null) as ImportResult | null }),
  })
  const run = find(id)
  // Exports change nothing on the screen.
  if (status !== 'completed' || !run || isExport) return
  if (run.baseId !== '') void cache.schema.tables.invalidate({ baseId: run.baseId })
  if (run.kind !== IMPORT_JOB) void cache.invalidate()
}

/** Cancels an import, which then leaves nothing behind. */
export async function cancelRun(id: number): Promise<void> {
  const jobId = find(id)?.jobId
  if (jobId) await api.jobs.cancel.mutate({ jobId })
  else controllers.get(id)?.abort()
}

/** Cancels the runs of one start that have not ended. */
export async function cancelGroup(group: string): Promise<void> {
  const running = runs.getState().filter((run) => run.group === group && !hasEnded(run))
  const jobId = running.find((run) => run.jobId !== null)?.jobId
  if (jobId) await api.jobs.cancel.mutate({ jobId, group: true })
  else for (const { id } of running) controllers.get(id)?.abort()
}

/** Removes an ended run from the list. */
export const dismissRun = (id: number): void =>
  runs.setState((all) => all.filter((run) => run.id !== id), true)

/** All runs; re-renders when they change. */
export const useRuns = (): readonly ImportRun[] => useStore(runs)

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
