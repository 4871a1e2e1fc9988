import { withoutCaller } from '../caller.ts'
import { nowIso } from '../clock.ts'
import { AppError, badRequest } from '../core/errors.ts'
import { createId } from '../core/ids.ts'
import { isStorableJson } from '../core/json-text.ts'
import { plainMessage } from '../core/plain-message.ts'
import type { Meta } from '../db/meta.ts'
import { createMutex } from '../db/mutex.ts'
import type { Events } from '../events.ts'
import type { Job, JobKind, JobStatus, Jobs } from '../jobs.ts'
import { hasEnded, isStopping, ServerStopping } from '../jobs.ts'
import type { Log } from '../log.ts'
import { m } from '../messages.gen.ts'
import { NOTICES, type Notice } from '../notices.ts'
import type { Registry } from '../registry.ts'
import { explainStorage, isOutage } from '../storage-full.ts'
import { createJobStore, groupOf, subjectOf } from './job-store.ts'

/** Jobs that run at the same time on this server; each may keep a core busy. */
const MAX_ACTIVE = 2

/** The same for jobs that mostly wait for other servers. */
const MAX_WAITING = 20

/** Interval at which progress is sent to browsers. It is stored less often, because a restart does not need it. */
const SEND_EVERY_MS = 200
const STORE_EVERY_MS = 2000

/** Retry interval for storing an end, for example after a full disk. */
const STORE_AGAIN_MS = 5000

/** Runs of a job that the database interrupts by going away, in a row, which do not come further than those before. */
const MAX_FRUITLESS_RUNS = 3
/** A job that goes on this often without coming further has failed: it may be what ends the server. */
const MAX_FRUITLESS_RESTARTS = 5
/** How often a job that was cut off from the database or from the other servers, or waits for room, looks again. */
const LOOK_AGAIN_MS = 500
const RETRY_SOON = { retryAfterSeconds: 5 }
/** Options of what a job that `completes` waits for. */
const COMPLETING = { triesIfCancelled: Number.POSITIVE_INFINITY }
/** How often the end of a job is tried before it is announced unstored, and when the server stops. */
const MAX_END_TRIES = 10
const MAX_LAST_TRIES = 5

/** Whoever started a job that takes less than this has seen it end on the screen. */
const NOTIFIED_FROM_MS = 10_000

/** A server that has lost its connection has this time to claim its jobs again, before others clean up after it. */
const RECOVER_AFTER_MS = 5_000

const STOPPED = m.jobs_error_stopped()

interface Deps {
  meta: Meta
  events: Events
  log: Log
  /** Notices of ended jobs are stored with the end. */
  registry?: Pick<Registry, 'get'>
  /** Called for each job that this server has ended; `job.changed` also reports those of others. */
  onEnd?: (job: Job) => void
}

interface Run {
  job: Job
  input: unknown
  controller: AbortController
  /** Resolves when the job has ended and its end is stored; null while it waits. */
  done: Promise<void> | null
  /** Jobs that must have ended before it runs; empty once they have. */
  after: readonly string[]
  /** `now` while it is found out whether they have, `later` until it is found out again. */
  look?: 'now' | 'later' | undefined
  /** True once another server has the job: what becomes of it here does not count. */
  isTaken?: true
  /** Set during `JobContext.awayFor`: `away` while it waits, `returning` until there is room. */
  absence?: 'away' | 'returning'
}

/** The jobs of this server, with those of others that share the metadata, recorded in the metadata database. Call `recover` once every kind is registered. */
export function createJobs({ meta, events, log, registry, onEnd }: Deps): Jobs {
  const store = createJobStore(meta)
  const { cluster } = meta
  const { claims } = cluster
  const kinds = new Map<string, JobKind<unknown>>()
  /** Waiting and running jobs, in start order. */
  const runs = new Map<string, Run>()
  /** Ids of jobs that are being stored. */
  const starting = new Set<string>()
  /** Ended jobs whose end is not stored yet. */
  const unsaved = new Map<string, Job>()
  /** Those of them that nobody has been told of yet, as they were before. */
  const ending = new Map<string, Job>()
  let closing = false
  /** True once the kinds of jobs are registered. */
  let isStarted = false
  const storeAgain = setInterval(() => void saveEnds(), STORE_AGAIN_MS)
  storeAgain.unref()
  let recovery: Timer | undefined

  function add(job: Job, input: unknown): void {
    const after = kinds.get(job.kind)?.after?.(input) ?? []
    runs.set(job.id, { job, input, controller: new AbortController(), done: null, after })
  }

  const isActive = (run: Run) => run.done !== null

  /** True for a job that runs even if it is cancelled before: an earlier run has left work that it completes. */
  const mustComplete = ({ job }: Run): boolean =>
    kinds.get(job.kind)?.completes === true && (job.progress.restarts ?? 0) > 0

  const isWaiting = ({ job }: Run) => kinds.get(job.kind)?.isWaiting === true
  const maxBeside = (run: Run): number => (isWaiting(run) ? MAX_WAITING : MAX_ACTIVE)

  /** Starts the jobs that may run now. */
  function pump(): void {
    const active = [...runs.values()].filter(isActive)
    for (const run of runs.values()) {
      if (closing) return
      if (isActive(run)) continue
      if (run.after.length > 0) {
        const isEnding = run.after.some((id) => ending.has(id))
        // The end of a job of this server starts the next ones.
        if (!isEnding && !run.after.some((id) => runs.has(id))) lookAtOthers(run).catch(reportWaiting(run))
        // It may run in a moment: those behind it in its base may need what it does.
        if (isEnding || run.look === 'now') active.push(run)
        continue
      }
      const beside = active.filter((other) => isWaiting(other) === isWaiting(run))
      if (beside.filter(({ absence }) => absence !== 'away').length >= maxBeside(run)) continue
      if (beside.some(({ job }) => job.baseId !== null && job.baseId === run.job.baseId)) continue
      run.done = withoutCaller(() => execute(run))
      active.push(run)
    }
  }

  /** As `JobContext.awayFor`. */
  async function awayFor<T>(run: Run, work: () => Promise<T>): Promise<T> {
    run.absence = 'away'
    pump()
    try {
      return await work()
    } finally {
      // Keeps new jobs from starting before it.
      run.absence = 'returning'
      while (!hasRoom(run) && !run.controller.signal.aborted) await Bun.sleep(LOOK_AGAIN_MS)
      delete run.absence
    }
  }

  function hasRoom(run: Run): boolean {
    const present = [...runs.values()].filter((other) => isActive(other) && other.absence === undefined)
    return present.filter((other) => isWaiting(other) === isWaiting(run)).length < maxBeside(run)
  }

  /** Lets a job run if those that it comes after have ended; otherwise lets others go ahead, and looks again a moment later. */
  async function lookAtOthers(run: Run): Promise<void> {
    if (run.look) return
    run.look = 'now'
    const others = await Promise.all(run.after.map(find)).catch(reportWaiting(run))
    if (others?.every((job) => job === null || hasEnded(job.status))) run.after = []
    else {
      run.look = 'later'
      pump()
      await Bun.sleep(LOOK_AGAIN_MS)
    }
    run.look = undefined
    pump()
  }

  const reportWaiting =
    ({ job }: Run) =>
    (error: unknown): void => {
      if (!closing) log.error('a job that waits for others could not look at them', error, { jobId: job.id })
    }

  async function execute(run: Run): Promise<void> {
    const outcome = await attempt(run)
    if (outcome === null || run.isTaken) await leave(run)
    else await end(run.job, outcome)
  }

  /** Leaves a job to the next start of a server. */
  async function leave({ job }: Run): Promise<void> {
    runs.delete(job.id)
    await claims.release(job.id).catch((error) => {
      // Without a connection there is no claim.
      log.error('the claim of a job could not be released', error, { jobId: job.id })
    })
    pump()
  }

  /**
   * True while a job is still this server's. While the others cannot be heard, one of them may have taken it: it has then counted its run
   * or stored its end. Null until they are heard again. Everything that this server stores of its jobs is stored after this check,
   * which also aborts a job that somebody has asked to cancel: the event may be lost.
   */
  async function isOwn({ id, progress }: Job): Promise<boolean | null> {
    if (!cluster.isCurrent()) return null
    if (!(await claims.take(id))) return false
    const stored = await store.findUnfinished(id)
    // It has ended here meanwhile, and its claim with it.
    if (!runs.has(id) && !unsaved.has(id)) await claims.release(id)
    if (stored === null || stored.restarts !== progress.restarts) return false
    if (stored.isCancelled) runs.get(id)?.controller.abort()
    return true
  }

  /**
   * Ends a job. Whoever asks sees the end once it is announced: when it is stored, or when it cannot be stored for longer than
   * a moment. Otherwise a restart could take back an end that somebody has seen.
   */
  async function end(job: Job, outcome: Partial<Job>): Promise<void> {
    const ended: Job = { ...job, ...outcome, updatedAt: nowIso() }
    ending.set(job.id, job)
    unsaved.set(job.id, ended)
    runs.delete(job.id)
    for (let tries = 1; !(await saveEnds()) && tries < MAX_END_TRIES && !closing; tries++) {
      await Bun.sleep(LOOK_AGAIN_MS)
    }
    ending.delete(job.id)
    onEnd?.(ended)
    events.emit('job.changed', ended)
    pump()
  }

  /** Stores the end of a job, and in the same transaction notifies its owner if it was long enough to be out of sight. */
  async function saveEnd(job: Job): Promise<void> {
    const isLong = Date.parse(job.updatedAt) - Date.parse(job.createdAt) >= NOTIFIED_FROM_MS
    const isNotified = registry !== undefined && isLong && job.status !== 'cancelled'
    const prepared = isNotified ? await registry.get(NOTICES).prepare([noticeOf(job)]) : null
    await meta.atomically([store.saving(job), ...(prepared?.statements ?? [])])
    prepared?.stored()
  }

  /** Stores the ends of jobs. False while the other servers are not heard; errors are left to the next call. */
  async function saveEnds(): Promise<boolean> {
    for (const job of [...unsaved.values()]) {
      try {
        const isOurs = await isOwn(job)
        if (isOurs === null) return false
        if (isOurs) await saveEnd(job)
        unsaved.delete(job.id)
        await claims.release(job.id)
      } catch (error) {
        log.error('the end of a job could not be stored', error, { jobId: job.id })
        return true
      }
    }
    return true
  }

  function failed({ job }: Run, error: unknown): Partial<Job> {
    if (error instanceof AppError) return { status: 'failed', error: plainMessage(error.message) }
    log.error('job failed', error, { jobId: job.id, kind: job.kind })
    const reason = explainStorage(error)
    return {
      status: 'failed',
      error: reason instanceof AppError ? reason.message : m.request_error_unexpected(),
    }
  }

  /** Runs the work and returns its outcome; null if the server stops and the job goes on later. */
  async function attempt(run: Run): Promise<Partial<Job> | null> {
    const { job, input, controller } = run
    const send = createThrottle(SEND_EVERY_MS, () => events.emit('job.changed', job))
    let stored = Promise.resolve()
    const persist = createThrottle(STORE_EVERY_MS, () => {
      stored = stored
        .then(async () => {
          if (await isOwn(job)) await store.save(job)
        })
        .catch((error) => log.error('job progress could not be stored', error, { jobId: job.id }))
    })
    try {
      const kind = kinds.get(job.kind)
      if (!kind) throw new Error(`Unknown job type "${job.kind}"`)
      const completes = mustComplete(run)
      await whileOwn(run, () => change(run, { status: 'active' }), completes ? COMPLETING : {})
      const runOnce = async (isResumed: boolean) => {
        const remembered = isResumed ? await store.remembered(job.id) : null
        // Cancelled while its state was stored or read: an abort event that has already fired never reaches `run`.
        if (!(kind.completes && isResumed) || isStopping(controller.signal))
          controller.signal.throwIfAborted()
        return kind.run(input, {
          jobId: job.id,
          userId: job.userId,
          isResumed,
          signal: controller.signal,
          remembered,
          remember: (state, options) =>
            whileOwn(run, () => store.remember(job.id, state), { triesIfCancelled: 1, ...options }),
          awayFor: (work) => awayFor(run, work),
          report(progress) {
            job.progress = { ...job.progress, ...progress }
            job.updatedAt = nowIso()
            send.call()
            persist.call()
          },
        })
      }
      return { status: 'completed', result: (await runAgainAfterOutage(run, kind, runOnce)) ?? null }
    } catch (error) {
      const { aborted, reason } = controller.signal
      if (!aborted) return failed(run, error)
      if (!(reason instanceof ServerStopping)) return { status: 'cancelled' }
      return kinds.get(job.kind)?.resumes ? null : { status: 'failed', error: STOPPED }
    } finally {
      send.stop()
      persist.stop()
      // Waits for pending progress updates, which on another connection could overwrite the end.
      await stored
    }
  }

  /**
   * Runs the work. If the database goes away meanwhile, waits for it, cleans up and starts again: the job's own clean-up
   * needed the database as well. A job that is cancelled ends, unless it `completes` what it has begun.
   */
  async function runAgainAfterOutage(
    run: Run,
    kind: JobKind<unknown>,
    runOnce: (isResumed: boolean) => Promise<unknown>,
  ): Promise<unknown> {
    const { job, input, controller } = run
    const { signal } = controller
    let furthest = job.progress.done
    let fruitless = 0
    for (let runs = 1; ; runs++) {
      try {
        return await runOnce(runs > 1 || (job.progress.restarts ?? 0) > 0)
      } catch (error) {
        if (!isOutage(error) || (signal.aborted && (isStopping(signal) || !kind.completes))) throw error
        log.error('the database went away during a job', error, { jobId: job.id, kind: job.kind })
        const recoverRun = () => kind.recover(input, { id: job.id, userId: job.userId })
        const done = await whileOwn(run, recoverRun, kind.completes ? COMPLETING : {})
        if (done && done !== 'resume' && 'result' in done) return done.result
        const { done: reached } = job.progress
        fruitless = reached > furthest ? 0 : fruitless + 1
        furthest = Math.max(furthest, reached)
        if (fruitless < MAX_FRUITLESS_RUNS) continue
        const giveUpRun = () => giveUp(job, input, m.jobs_error_outages_often())
        const reason = await whileOwn(run, giveUpRun, kind.completes ? COMPLETING : {})
        throw reason === null ? error : new AppError('CONFLICT', reason)
      }
    }
  }

  /**
   * Does `work` once the database and the other servers are heard. @throws the reason of the signal if the job is cancelled, or if
   * another server has it: it has cleaned up after this one.
   *
   * @param options `triesIfCancelled`: how often it is tried for a job that is cancelled; once at most if the server stops. `patienceMs`:
   *   how long it is tried at all
   */
  async function whileOwn<T>(
    run: Run,
    work: () => Promise<T>,
    { triesIfCancelled = 0, patienceMs = Number.POSITIVE_INFINITY } = {},
  ): Promise<T> {
    const { signal } = run.controller
    const startedAt = performance.now()
    const isGivenUp = (tries: number): boolean => {
      const isLeft = closing || run.isTaken || isStopping(signal)
      return signal.aborted && tries >= (isLeft ? Math.min(triesIfCancelled, 1) : triesIfCancelled)
    }
    for (let tries = 0; runs.get(run.job.id) === run; tries++) {
      if (isGivenUp(tries)) signal.throwIfAborted()
      const isLast = performance.now() - startedAt >= patienceMs
      try {
        const isOurs = await isOwn(run.job)
        if (isOurs) return await work()
        if (isOurs === false) {
          run.isTaken = true
          // As when the server stops: what a job that resumes has done is left to its next run.
          run.controller.abort(new ServerStopping('Another server has taken the job'))
          continue
        }
        if (isLast) throw new AppError('DATABASE_UNREACHABLE', m.error_database_silent(), RETRY_SOON)
      } catch (error) {
        if (!isOutage(error) || isLast || isGivenUp(tries + 1)) throw error
      }
      await Bun.sleep(LOOK_AGAIN_MS)
    }
    throw new ServerStopping('The run has ended')
  }

  async function cancelOwn(jobId: string): Promise<void> {
    const run = runs.get(jobId)
    if (!run) return
    run.controller.abort()
    if (isActive(run)) return
    if (mustComplete(run)) run.done = withoutCaller(() => execute(run))
    else await end(run.job, { status: 'cancelled' })
  }

  /** Stops jobs whose cancellation is stored, on whichever server they run. */
  async function abortCancelled(jobIds: readonly string[]): Promise<void> {
    for (const jobId of jobIds) if (!runs.has(jobId)) events.emit('job.cancelled', { jobId })
    // Awaited for the jobs of this server, so that those that wait have ended when the call is answered.
    for (const jobId of jobIds) await cancelOwn(jobId)
  }

  events.on('job.cancelled', ({ jobId }) => {
    cancelOwn(jobId).catch((error) => log.error('a job could not be cancelled', error, { jobId }))
  })
  // This server was cut off, or another one may have been killed with its jobs.
  events.on('events.missed', () => {
    for (const run of runs.values()) {
      giveUpIfTaken(run).catch((error) => log.error('a job of this server could not be checked', error))
    }
    recoverSoon()
  })

  async function giveUpIfTaken(run: Run): Promise<void> {
    const { signal } = run.controller
    try {
      await whileOwn(run, async () => {})
      if (signal.aborted && !isStopping(signal)) await cancelOwn(run.job.id)
    } catch (error) {
      if (!signal.aborted && !(error instanceof ServerStopping)) throw error
      if (!run.isTaken || isActive(run)) return
      await leave(run)
    }
  }

  function recoverSoon(): void {
    clearTimeout(recovery)
    if (!isStarted || closing) return
    recovery = setTimeout(() => {
      recover().catch((error) => {
        log.error('jobs of other servers could not be checked', error)
        recoverSoon()
      })
    }, RECOVER_AFTER_MS)
    recovery.unref()
  }

  /** One after the other: a claim does not keep out the process that has it. */
  const inTurn = createMutex()
  const recover = (): Promise<void> => inTurn(recoverAll)

  async function recoverAll(): Promise<void> {
    isStarted = true
    const abandoned: { job: Job; input: unknown }[] = []
    for (const { job, input } of await store.unfinished()) {
      if (closing) return
      if (starting.has(job.id) || runs.has(job.id) || unsaved.has(job.id)) continue
      // Another server runs it or cleans it up.
      if (!(await claims.take(job.id))) continue
      if (hasEnded((await store.find(job.id))?.status ?? 'failed')) {
        await claims.release(job.id)
        continue
      }
      await kinds.get(job.kind)?.hold?.(input, { id: job.id })
      abandoned.push({ job, input })
    }
    for (const { job, input } of abandoned) {
      if (closing) return
      const done = await kinds
        .get(job.kind)
        ?.recover(input, { id: job.id, userId: job.userId })
        .catch((error) => {
          // Tried again: the job itself has not failed.
          if (isOutage(error)) throw error
          log.error('job could not be cleaned up', error, { jobId: job.id, kind: job.kind })
          return null
        })
      const again = done === 'resume' ? restarted(job) : null
      if (again) {
        await store.save(again)
        add(again, input)
        events.emit('job.changed', again)
        // Before a read that may fail: the job would not be found again.
        pump()
        // Read after the job was added: from then on, the event reaches it.
        if ((await store.findUnfinished(again.id))?.isCancelled) await cancelOwn(again.id)
      } else if (done === 'resume') {
        const reason = await giveUp(job, input, m.jobs_error_stopped_often())
        await end(job, { status: 'failed', error: reason ?? STOPPED })
      } else if (done && 'result' in done) await end(job, { status: 'completed', result: done.result })
      else if (!done && (await store.findUnfinished(job.id))?.isCancelled)
        await end(job, { status: 'cancelled' })
      else await end(job, { status: 'failed', error: done ? done.error : STOPPED })
    }
    await store.forgetOld()
  }

  /** Cleans up after a job that has come no further too often. Returns why it has failed; null if its kind does not say. */
  async function giveUp({ id, kind: name }: Job, input: unknown, reason: string): Promise<string | null> {
    const kind = kinds.get(name)
    if (!kind?.giveUp) return null
    const remembered = await store.remembered(id)
    return kind.giveUp(input, { id, remembered, reason }).catch((error) => {
      if (isOutage(error)) throw error
      log.error('a job that was given up could not be cleaned up', error, { jobId: id, kind: name })
      return m.request_error_unexpected()
    })
  }

  async function change({ job }: Run, patch: Partial<Job>): Promise<void> {
    Object.assign(job, patch, { updatedAt: nowIso() })
    await store.save(job)
    events.emit('job.changed', job)
  }

  /** A job whose state is newer here than in the metadata. */
  const findLive = (jobId: string): Job | undefined =>
    runs.get(jobId)?.job ?? ending.get(jobId) ?? unsaved.get(jobId)

  async function find(jobId: string): Promise<Job | null> {
    const live = findLive(jobId)
    return live ? { ...live } : store.find(jobId)
  }

  return {
    hasPrivateResult: (kind) => kinds.get(kind)?.hasPrivateResult === true,
    register: (name, definition) => void kinds.set(name, definition as JobKind<unknown>),
    async start(kind, { id = createId('job'), userId, baseId, input }) {
      if (closing) throw new AppError('CONFLICT', m.jobs_error_stopping())
      // Cleaned, an id could name something else.
      if (!isStorableJson(JSON.stringify(input ?? {}))) throw badRequest(m.schema_error_unstorable_text())
      const now = nowIso()
      const job: Job = {
        id,
        kind,
        status: 'waiting' as JobStatus,
        baseId,
        userId,
        result: null,
        error: null,
        progress: { done: 0, total: null, unit: 'rows' },
        subject: subjectOf(input),
        group: groupOf(input),
        createdAt: now,
        updatedAt: now,
      }
      // Claimed before it is stored, so that a server that starts now does not take it for an abandoned job.
      starting.add(id)
      try {
        await claims.take(id)
        await store.insert(job, input)
        add(job, input)
      } finally {
        starting.delete(id)
      }
      events.emit('job.changed', job)
      pump()
      return { ...job }
    },
    record: (job) => store.insert({ ...job, subject: null, group: null }, {}),
    find,
    async list(of) {
      const stored = await store.list(of)
      const current = stored.map((job) => ({ ...job, ...findLive(job.id) }))
      return of.unfinished ? current.filter((job) => !hasEnded(job.status)) : current
    },
    async inGroup(group) {
      const all = await store.unfinished()
      return all.flatMap(({ job }) => (job.group === group ? job : [])).toReversed()
    },
    counts() {
      const active = [...runs.values()].filter(isActive).length
      return { waiting: runs.size - active, active }
    },
    async cancel(jobId) {
      const cancelled = await store.requestCancel({ id: jobId }).catch((error) => {
        // A job of this server is stopped all the same: it may be what fills the disk.
        if (!runs.has(jobId)) throw error
        log.error('the request to cancel a job could not be stored', error, { jobId })
        return [jobId]
      })
      await abortCancelled(cancelled)
    },
    async cancelAllOf(userId) {
      await abortCancelled(await store.requestCancel({ userId }))
    },
    recover,
    async close() {
      closing = true
      for (const { controller } of runs.values()) controller.abort(new ServerStopping('The server stops'))
      await Promise.all([...runs.values()].map(({ done }) => done))
      for (const run of [...runs.values()]) {
        if (kinds.get(run.job.kind)?.resumes) await leave(run)
        else await end(run.job, { status: 'failed', error: STOPPED })
      }
      for (let tries = 1; unsaved.size > 0 && !(await saveEnds()) && tries < MAX_LAST_TRIES; tries++) {
        await Bun.sleep(LOOK_AGAIN_MS)
      }
      clearInterval(storeAgain)
      clearTimeout(recovery)
    },
  }
}

/** An interrupted job that runs again; null if too many runs have not come further. One that was waiting has not run. */
function restarted(job: Job): Job | null {
  const { done, restarts = 0, furthest = 0 } = job.progress
  // Servers of other versions count all runs.
  const { fruitless: before = restarts } = job.progress
  const fruitless = job.status === 'waiting' ? before : done > furthest ? 0 : before + 1
  if (fruitless > MAX_FRUITLESS_RESTARTS) return null
  return {
    ...job,
    status: 'waiting',
    progress: {
      ...job.progress,
      restarts: restarts + 1,
      furthest: Math.max(furthest, done),
      fruitless,
    },
    updatedAt: nowIso(),
  }
}

const noticeOf = ({ id, kind, subject, userId, baseId, error }: Job): Notice => ({
  kind: 'jobEnded',
  userId,
  key: `job ${id}`,
  ref: id,
  actorId: null,
  baseId,
  detail: { job: { kind, subject, error } },
})

/** Throttles `work` to one call per `everyMs`, with a trailing call. */
function createThrottle(everyMs: number, work: () => void): { call(): void; stop(): void } {
  let timer: Timer | null = null
  let isWanted = false

  function run(): void {
    isWanted = false
    timer = setTimeout(() => {
      timer = null
      if (isWanted) run()
    }, everyMs)
    timer.unref()
    work()
  }

  return {
    call() {
      if (timer) isWanted = true
      else run()
    },
    stop() {
      if (timer) clearTimeout(timer)
      isWanted = false
    },
  }
}
