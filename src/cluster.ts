/** Metadata tables whose rows servers cache, with the columns that identify a row to the caches. */
export const CACHED_TABLES = {
  users: ['id'],
  memberships: ['user_id'],
  api_tokens: ['token_hash'],
  shares: ['id', 'kind', 'target_id'],
  bases: ['id'],
  sources: ['id', 'base_id'],
  tables: ['id'],
  plugins: ['id'],
} as const

export type CachedTable = keyof typeof CACHED_TABLES

/** The identifying columns of a changed row, as text. */
export type StaleRow<T extends CachedTable> = Record<(typeof CACHED_TABLES)[T][number], string>

/**
 * The servers that share one metadata database, as seen by one of them.
 *
 * - **Cached rows.** A committed change of a row of `CACHED_TABLES`, by any program, reaches `onStale` of every server.
 *   A change made through `Meta` returns once every server has handled it, so that the next call to any server sees it.
 *   Handlers may run more than once for one change.
 * - **Messages.** `publish` reaches `onMessage` of all other servers, in the order of its sender, after the rows that
 *   the sender had changed before have become stale there. At most once: after an interruption `onMissed` runs instead.
 * - **Interruptions.** While `isCurrent` is false, changes of other servers may be unknown here: cached rows must not
 *   be used. When it is true again, `onMissed` has run.
 */
export interface Cluster {
  /** True if other servers may join. */
  readonly isShared: boolean
  /** True while every change by another server is known here within moments. Cheap: asked on each use of a cache. */
  isCurrent(): boolean
  /** True if no other server was running within the last seconds. */
  isAlone(): boolean
  /** Runs when a row has changed. Its promise delays the answer to the call that changed the row. */
  onStale<T extends CachedTable>(table: T, handle: (row: StaleRow<T>) => void | Promise<void>): () => void
  /** Runs when changes or messages of other servers may have been lost: everything learned before is stale. */
  onMissed(handle: () => void): () => void
  /** Sends a message to all other servers. Payloads are JSON of any size. Never throws. */
  publish(name: string, payload: unknown): void
  onMessage(handle: (name: string, payload: unknown) => void): () => void
  /** Jobs claimed by this server; other servers skip them. */
  claims: Claims
  close(): Promise<void>
}

/** Claims of jobs. A claim ends with the process, even after a crash. */
export interface Claims {
  /** False if another process holds the claim; true if this process already holds it. */
  take(key: string): Promise<boolean>
  release(key: string): Promise<void>
}

const nothing = () => {}
const nothingToStop = () => nothing

/** The cluster of a server whose metadata only this process can open: nothing ever happens elsewhere. */
export const ALONE: Cluster = {
  isShared: false,
  isCurrent: () => true,
  isAlone: () => true,
  onStale: nothingToStop,
  onMissed: nothingToStop,
  publish: nothing,
  onMessage: nothingToStop,
  claims: { take: async () => true, release: async () => {} },
  close: async () => {},
}
