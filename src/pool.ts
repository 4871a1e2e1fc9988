import { type Caller, cancelled, currentCaller, watchCaller } from './caller.ts'
import { clockOffsetMs } from './clock.ts'
import type { ScriptWatch } from './dialects/dialect.ts'
import type { PoolMessage, PoolReply, Runner, StartRunner } from './pool-runner.ts'
import { startReader, startWriter } from './reader-process.ts'
import { workerUrl } from './worker-url.ts'

/**
 * Kinds of tasks:
 * - `read`: short, because it reads little; runs in a thread.
 * - `large read`: may take long; runs in its own process, which can be killed in the middle of a statement.
 * - `write`: always runs to its end in a thread.
 * - `large write`: one transaction in its own process, which its watch can kill in the middle of a statement.
 */
export type TaskKind = 'read' | 'large read' | 'write' | 'large write'

/** Workers for tasks whose cost grows with a table, so that the request thread never waits for them. */
export interface WorkerPool {
  /**
   * Runs a task of `src/pool-tasks.ts`. Waiting tasks are scheduled fairly by user and base, so that one user's reads
   * do not block others. A read ends with its request, and after `QUERY_TIMEOUT_SECONDS`.
   *
   * @param base id of the base that it reads or writes
   * @param watch of a `large write`
   * @throws PoolTaskError with the task's message and code; QUERY_CANCELLED, QUERY_TIMEOUT; the reason of the watch's
   *   signal, after the task has ended
   */
  run(task: string, input: unknown, kind?: TaskKind, base?: string, watch?: ScriptWatch): Promise<unknown>
  /** The tasks and workers of each kind. */
  counts(): Record<TaskKind, { running: number; waiting: number; workers: number }>
  /** Ends all workers at once, aborting running tasks. */
  close(): void
}

export class PoolTaskError extends Error {
  override readonly name = 'PoolTaskError'
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message)
  }
}

interface Entry {
  id: number
  task: string
  input: unknown
  user: string
  base: string
  caller: Caller | undefined
  stopper: ScriptWatch | undefined
  resolve(value: unknown): void
  reject(error: Error): void
  /** Ends the watch of caller and timeout. */
  release(): void
}

interface Member {
  runner: Runner
  /** Runs the task; `isWanted` turns false once no caller waits for the result. */
  running: { entry: Entry; isWanted: boolean } | null
  idleTimer: Timer | undefined
}

/** Grace period for a task without waiting callers: starting a new process costs as much. */
const GRACE_MS = 250
/** Idle processes end after this time: each takes about 40 MB. */
const IDLE_MS = 60_000

interface GroupOptions {
  start: StartRunner
  /** Most tasks of one user at a time; there is one runner more, so that another user finds one free. */
  size: number
  isWatched: boolean
  endsWhenIdle: boolean
}

/** Runners of one kind with their queue. */
function createGroup({ start, size, isWatched, endsWhenIdle }: GroupOptions) {
  const members: Member[] = []
  const waiting: Entry[] = []
  /** Sequence number of each user's last turn. */
  const servedAt = new Map<string, number>()
  let turn = 0
  let isClosed = false

  function add(): Member {
    const member: Member = {
      runner: start({
        reply: (reply) => ('ok' in reply ? finish(member, reply) : hear(member, reply)),
        ended: (message) => lose(member, message),
      }),
      running: null,
      idleTimer: undefined,
    }
    members.push(member)
    return member
  }

  /** Progress reports of a write. */
  function hear({ running, runner }: Member, message: Exclude<PoolMessage, PoolReply>): void {
    if (running?.entry.id !== message.id || !running.isWanted) return
    const { stopper } = running.entry
    if ('written' in message) stopper?.progress?.(message.written)
    else if (!stopper?.signal?.aborted) {
      stopper?.commit?.()
      // It cannot be stopped from here on.
      running.entry.release()
      runner.permit?.(message.id)
    }
  }

  /** Stops a write, and rejects its callers once it has ended. */
  function stop(entry: Entry, member: Member | null): void {
    entry.release()
    const at = waiting.indexOf(entry)
    if (at >= 0) waiting.splice(at, 1)
    const isRunning = member?.running?.entry === entry
    if (isRunning) drop(member)
    const tell = () => {
      entry.reject(entry.stopper?.signal?.reason)
      pump()
    }
    // The process holds the file's lock until it has ended.
    Promise.resolve(isRunning ? member.runner.hasEnded : undefined).then(tell, tell)
  }

  function finish(member: Member, reply: PoolReply): void {
    const { running } = member
    if (running?.entry.id !== reply.id) return
    member.running = null
    if (running.isWanted) {
      running.entry.release()
      if (reply.ok) running.entry.resolve(reply.result)
      else running.entry.reject(new PoolTaskError(reply.error.message, reply.error.code))
    }
    pump()
    if (endsWhenIdle && member.running === null) rest(member)
  }

  function rest(member: Member): void {
    clearTimeout(member.idleTimer)
    member.idleTimer = setTimeout(() => {
      if (member.running === null) drop(member)
    }, IDLE_MS)
    member.idleTimer.unref()
  }

  /** Removes a runner from the pool and rejects its callers. */
  function lose(member: Member, message: string): void {
    const { running } = member
    drop(member)
    if (running?.isWanted) {
      running.entry.release()
      running.entry.reject(new PoolTaskError(message))
    }
    pump()
  }

  function drop(member: Member): void {
    const at = members.indexOf(member)
    if (at < 0) return
    members.splice(at, 1)
    member.running = null
    clearTimeout(member.idleTimer)
    member.runner.end()
  }

  const countRunning = (is: (entry: Entry) => boolean): number =>
    members.filter(({ running }) => running !== null && is(running.entry)).length

  /**
   * The next task: of the user, then the base, with the fewest running tasks; then of the user whose last turn is
   * longest ago.
   */
  function next(): Entry | undefined {
    let best: Entry | undefined
    let bestRank: number[] = []
    for (const entry of waiting) {
      const ofUser = countRunning(({ user }) => user === entry.user)
      if (ofUser >= size) continue
      const ofBase = countRunning(({ base }) => base === entry.base)
      const rank = [ofUser, ofBase, servedAt.get(entry.user) ?? 0]
      if (best === undefined || isBefore(rank, bestRank)) [best, bestRank] = [entry, rank]
    }
    return best
  }

  function pump(): void {
    while (waiting.length > 0 && !isClosed) {
      const idle = members.find(({ running }) => running === null)
      if (!idle && members.length > size) return
      const entry = waiting.length === 1 && members.every(({ running }) => !running) ? waiting[0] : next()
      if (!entry) return
      waiting.splice(waiting.indexOf(entry), 1)
      begin(idle ?? add(), entry)
    }
    if (waiting.length === 0 && servedAt.size > 10_000) servedAt.clear()
  }

  function begin(member: Member, entry: Entry): void {
    clearTimeout(member.idleTimer)
    member.running = { entry, isWanted: true }
    servedAt.set(entry.user, ++turn)
    watch(entry, member)
    member.runner.post({ id: entry.id, task: entry.task, input: entry.input, clockOffsetMs: clockOffsetMs() })
  }

  /** Rejects an entry's callers. If the runner cannot be stopped, its result is dropped. */
  function giveUp(entry: Entry, member: Member | null, error: Error): void {
    entry.release()
    entry.reject(error)
    const at = waiting.indexOf(entry)
    if (at >= 0) waiting.splice(at, 1)
    if (member?.running?.entry !== entry) return
    member.running.isWanted = false
    if (!member.runner.canStop) return
    setTimeout(() => {
      if (member.running?.entry !== entry) return
      drop(member)
      pump()
    }, GRACE_MS)
  }

  /** Watches caller and timeout of a waiting (no member) or running entry. */
  function watch(entry: Entry, member: Member | null): void {
    entry.release()
    const { caller, stopper } = entry
    if (stopper?.signal) {
      const { signal } = stopper
      const onAbort = () => stop(entry, member)
      signal.addEventListener('abort', onAbort, { once: true })
      entry.release = () => signal.removeEventListener('abort', onAbort)
      return
    }
    if (!isWatched || !caller) return
    entry.release = watchCaller(caller, (reason) => giveUp(entry, member, reason), member === null)
  }

  return {
    submit(entry: Entry): void {
      if (entry.stopper?.signal?.aborted) {
        entry.reject(entry.stopper.signal.reason)
        return
      }
      if (isWatched && entry.caller?.signal.aborted) {
        entry.reject(cancelled())
        return
      }
      waiting.push(entry)
      pump()
      if (waiting.includes(entry)) watch(entry, null)
    },
    counts: () => ({
      running: countRunning(() => true),
      waiting: waiting.length,
      workers: members.length,
    }),
    close(): void {
      isClosed = true
      const stopping = new PoolTaskError('The server is stopping')
      for (const entry of waiting.splice(0)) {
        entry.release()
        entry.reject(stopping)
      }
      for (const member of [...members]) {
        const { running } = member
        drop(member)
        if (!running?.isWanted) continue
        running.entry.release()
        running.entry.reject(stopping)
      }
    },
  }
}

function isBefore(rank: number[], other: number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at >= 0 && (rank[at] ?? 0) < (other[at] ?? 0)
}

/** Bun's workers have `ref` and `unref`, which the DOM types lack. */
type KeepAlive = Worker & { ref(): void; unref(): void }

const startThread: StartRunner = ({ reply, ended }) => {
  const worker = new Worker(workerUrl('src/worker.ts')) as KeepAlive
  worker.onmessage = ({ data }: MessageEvent<PoolReply>) => {
    worker.unref()
    reply(data)
  }
  worker.onerror = (event) => ended(event.message)
  // A thread can end without an error.
  worker.addEventListener('close', () => ended('A worker thread has ended'))
  return {
    canStop: false,
    post(request) {
      // Keeps the server process alive until the started work is done.
      worker.ref()
      worker.postMessage(request)
    },
    end: () => worker.terminate(),
  }
}

/** @param size most running tasks per user and kind */
export function createWorkerPool(size: number): WorkerPool {
  const common = { size, start: startThread, isWatched: true, endsWhenIdle: false }
  const groups = {
    read: createGroup(common),
    'large read': createGroup({ ...common, start: startReader, endsWhenIdle: true }),
    write: createGroup({ ...common, isWatched: false }),
    'large write': createGroup({ ...common, start: startWriter, isWatched: false, endsWhenIdle: true }),
  } satisfies Record<TaskKind, unknown>
  let nextId = 1
  let isClosed = false

  return {
    run(task, input, kind = 'read', base = '', stopper) {
      if (isClosed) return Promise.reject(new PoolTaskError('The server is stopping'))
      const caller = currentCaller()
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const user = caller?.key || `base ${base}`
      groups[kind].submit({
        id: nextId++,
        task,
        input,
        user,
        base,
        caller,
        stopper,
        resolve,
        reject,
        release: () => {},
      })
      return promise
    },
    counts: () => ({
      read: groups.read.counts(),
      'large read': groups['large read'].counts(),
      write: groups.write.counts(),
      'large write': groups['large write'].counts(),
    }),
    close() {
      isClosed = true
      for (const group of Object.values(groups)) group.close()
    },
  }
}
