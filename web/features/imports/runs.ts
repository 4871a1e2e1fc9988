import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import { messageOf } from '../../errors.ts'
import { onJob } from '../../socket.ts'
import { api, cache, type Inputs, type Outputs } from '../../trpc.ts'
import { type ExportedFile, isExportJob } from '../exports/run-export.ts'
import type { ImportSource } from './source.ts'
import { uploadSource } from './transfer.ts'

/** Poll interval while there are no live updates. */
const POLL_MS = 700

/** Job kind of imports. */
export const IMPORT_JOB = 'import'

/** An import that this page started, or a job that was running when it was opened. */
export interface ImportRun {
  id: number
  /** `import`, or the kind of a job that was running when the page was opened. */
  kind: string
  baseId: string
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
  startedAt: number
  endedAt: number | null
  result: ImportResult | null
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
  /** Name for the user. */
  name: string
  inputOf: (uploadId: string) => StartInput
}

/**
 * Uploads a file and imports tables of it, even if the dialog is closed meanwhile.
 * @param uploaded the upload, if the file was analysed on the server
 * @returns the ids of the runs, in the order of the tables
 */
export function startRuns(
  baseId: string,
  source: ImportSource,
  tables: readonly TableRun[],
  uploaded?: Promise<string>,
): number[] {
  const ids = tables.map(({ name }) =>
    addRun({ kind: IMPORT_JOB, baseId, fileName: name, status: 'uploading', size: source.size }),
  )
  void carryOut(ids, source, { tables, uploaded })
  return ids
}

/** Tracks a job that another page started. */
export function followUnfinished(job: Job, name: string): void {
  const { id: jobId, kind, baseId, status, progress, error, createdAt } = job
  const id = addRun({
    kind,
    baseId: baseId ?? '',
    fileName: name,
    status: status === 'active' ? 'active' : 'waiting',
    jobId,
    error,
    rows: progress.done,
    totalRows: progress.total,
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
    jobId: null,
    uploadId: null,
    sent: 0,
    size: 0,
    isOffline: false,
    rows: 0,
    totalRows: null,
    startedAt: Date.now(),
    endedAt: null,
    result: null,
    file: null,
    error: null,
    ...known,
  }
  runs.setState((all) => [...all, run], true)
  return run.id
}

async function carryOut(
  ids: readonly number[],
  source: ImportSource,
  { tables, uploaded }: { tables: readonly TableRun[]; uploaded: Promise<string> | undefined },
): Promise<void> {
  const controller = new AbortController()
  for (const id of ids) controllers.set(id, controller)
  const end = (id: number, error: unknown) =>
    update(id, {
      ...(controller.signal.aborted
        ? { status: 'cancelled' }
        : { status: 'failed', error: messageOf(error) }),
      endedAt: Date.now(),
    })
  try {
    const onProgress = (sent: number) => {
      for (const id of ids) update(id, { sent })
    }
    const onLost = (isOffline: boolean) => {
      for (const id of ids) update(id, { isOffline })
    }
    const { signal } = controller
    const uploadId = await (uploaded ?? uploadSource(source, { signal, onProgress, onLost }))
    const started = await api.imports.startAll.mutate(tables.map(({ inputOf }) => inputOf(uploadId)))
    await Promise.all(
      ids.map(async (id, at) => {
        const jobId = started[at]?.jobId ?? ''
        update(id, { jobId, uploadId, status: 'waiting', sent: source.size })
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
      const job = await api.jobs.get.query({ jobId })
      show(id, job)
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
  const isExport = isExportJob(find(id)?.kind ?? '')
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled'
  update(id, {
    status,
    error,
    rows: progress.done,
    totalRows: progress.total,
    ...(isOver && { endedAt: Date.now() }),
    ...(isOver && isExport && { file: (job.result ?? null) as ExportedFile | null }),
    ...(isOver && !isExport && { result: (job.result ?? null) as ImportResult | null }),
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

/** Removes an ended run from the list. */
export const dismissRun = (id: number): void =>
  runs.setState((all) => all.filter((run) => run.id !== id), true)

/** All runs; re-renders when they change. */
export const useRuns = (): readonly ImportRun[] => useStore(runs)

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
