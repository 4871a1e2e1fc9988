/** A message to a worker and its answer; `id` pairs them. */
export interface PoolRequest {
  id: number
  task: string
  input: unknown
}

export type PoolReply =
  | { id: number; ok: true; result: unknown }
  | { id: number; ok: false; error: { message: string; code?: string } }

/** A reply, or what a process reports about a write before it has finished. */
export type PoolMessage = PoolReply | { id: number; written: number } | { id: number; asksToCommit: true }

/** Lets a process commit: from here on it is not killed any more. */
export interface PoolPermit {
  id: number
  mayCommit: true
}

/** The server, as a write in a process of its own sees it. */
export interface Supervisor {
  /** Reports the rows written so far. */
  progress(written: number): Promise<void>
  /** Resolves once the write may commit. A cancelled write is killed instead. */
  mayCommit(): Promise<void>
}

/** A thread or a process that does one task at a time. */
export interface Runner {
  post(request: PoolRequest): void
  /** Answers a write that asks to commit. */
  permit?(id: number): void
  /** Ends it, for a process also in the middle of a statement. */
  end(): void
  /** Resolves once a process has ended. */
  readonly hasEnded?: Promise<unknown>
  /** True where `end` stops a task that is running. */
  readonly canStop: boolean
}

/** Makes a runner that hands on its answers, and says so where it has ended by itself. */
export type StartRunner = (on: { reply(reply: PoolMessage): void; ended(message: string): void }) => Runner
