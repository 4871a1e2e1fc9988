/** A message to a worker and its answer; `id` pairs them. */
export interface PoolRequest {
  id: number
  task: string
  input: unknown
  /** The time of the server, see `src/clock.ts`. */
  clockOffsetMs: number
}

export type PoolReply =
  | { id: number; ok: true; result: unknown }
  | { id: number; ok: false; error: { message: string; code?: string } }

/** A reply, or a progress report of a running write. */
export type PoolMessage = PoolReply | { id: number; written: number } | { id: number; asksToCommit: true }

/** Permits a process to commit; it is not killed from then on. */
export interface PoolPermit {
  id: number
  mayCommit: true
}

/** The server's interface to a write in a separate process. */
export interface Supervisor {
  /** Reports the rows written so far. */
  progress(written: number): Promise<void>
  /** Resolves once the write may commit. A cancelled write is killed instead. */
  mayCommit(): Promise<void>
}

/** A thread or process that runs one task at a time. */
export interface Runner {
  post(request: PoolRequest): void
  /** Answers a write that asks to commit. */
  permit?(id: number): void
  /** Ends it; a process even in the middle of a statement. */
  end(): void
  /** Resolves once a process has ended. */
  readonly hasEnded?: Promise<unknown>
  /** True if `end` stops a running task. */
  readonly canStop: boolean
}

/** Starts a runner that passes on its replies and reports an unexpected end. */
export type StartRunner = (on: { reply(reply: PoolMessage): void; ended(message: string): void }) => Runner
