/** A message to a worker and its answer; `id` pairs them. */
export interface PoolRequest {
  id: number
  task: string
  input: unknown
}

export type PoolReply =
  | { id: number; ok: true; result: unknown }
  | { id: number; ok: false; error: { message: string; code?: string } }

/** A thread or a process that does one task at a time. */
export interface Runner {
  post(request: PoolRequest): void
  /** Ends it, for a process also in the middle of a statement. */
  end(): void
  /** True where `end` stops a task that is running. */
  readonly canStop: boolean
}

/** Makes a runner that hands on its answers, and says so where it has ended by itself. */
export type StartRunner = (on: { reply(reply: PoolReply): void; ended(message: string): void }) => Runner
