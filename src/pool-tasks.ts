import { queryTasks } from './db/query-tasks.ts'
import type { PoolReply, PoolRequest, Supervisor } from './pool-runner.ts'

/**
 * What the pool's workers do. A task takes and gives plain values and knows no kernel: where it writes, the main thread
 * holds the base's write lease for it.
 */
type Task = (input: never, supervisor?: Supervisor) => unknown

const TASKS: Record<string, Task> = { ...queryTasks }

/** Carries out a request and gives its answer, an error among them. */
export async function answer({ id, task, input }: PoolRequest, supervisor?: Supervisor): Promise<PoolReply> {
  const run = TASKS[task]
  if (!run) return { id, ok: false, error: { message: `No task is called "${task}"` } }
  try {
    return { id, ok: true, result: await run(input as never, supervisor) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return { id, ok: false, error: { message, code: typeof code === 'string' ? code : undefined } }
  }
}
