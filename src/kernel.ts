import type { SQL } from 'drizzle-orm'
import type { Config } from './config.ts'
import type { Undoers } from './db/change-log/undoers.ts'
import type { Meta, MetaStatement } from './db/meta.ts'
import type { Sources } from './db/sources.ts'
import type { Events } from './events.ts'
import type { Jobs } from './jobs.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import type { Mail } from './mail.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { WorkerPool } from './pool.ts'
import type { Registry } from './registry.ts'
import type { Secrets } from './secrets.ts'
import type { FileStores } from './storage/index.ts'
import type { MoveTables } from './table-moves.ts'
import type { Works } from './works.ts'

/**
 * Answers all requests with 503, ends what runs, closes everything, and then starts the program anew, in the same process
 * with the same address.
 *
 * @param exchange runs once nothing uses the data any more
 * @param failed called if that, or an earlier step, has failed; the program is started anew as well
 */
export type RestartWithData = (exchange: () => Promise<void>, failed: (error: unknown) => void) => void

/** The shared services that every module gets. */
export interface Kernel {
  config: Config
  log: Log
  meta: Meta
  pool: WorkerPool
  sources: Sources
  events: Events
  jobs: Jobs
  secrets: Secrets
  mail: Mail
  /** Events that rate limits count. */
  limits: Limits
  /** Measurements for Prometheus; null if `METRICS_TOKEN` is not set. */
  metrics: Metrics | null
  /** Contents of uploaded files. */
  files: FileStores
  /** Contracts that earlier modules need from later ones; filled once, in app.ts. */
  registry: Registry
  /** Undo implementations of modules that log changes. */
  undoers: Undoers
  /** Each module’s statements that forget a base, for the transaction in which it is removed for good. */
  removals: ((baseId: string) => MetaStatement[])[]
  /** The same for an account that is deleted. They must change nothing unless `isDeleted`, a condition, holds. */
  accountRemovals: ((userId: string, isDeleted: SQL) => MetaStatement[])[]
  /** What the modules keep of a table beside its definition, when it moves to another base. */
  tableMoves: MoveTables[]
  /** Set once the server is asked to stop: it is no longer ready for new clients. */
  shutdown: { hasBegun: boolean }
  /** Starts the server anew with other data; null where the program cannot start itself again. */
  restart: RestartWithData | null
  /** Writes whose duration grows with a table. */
  works: Works
}
