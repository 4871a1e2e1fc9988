/** Connections of a server to the PostgreSQL of `DATABASE_URL`, unless `DATABASE_CONNECTIONS` says otherwise. */
export const DEFAULT_CONNECTIONS = 20
/** One for each purpose, and one that listens to the other servers. */
export const MIN_CONNECTIONS = 5
export const MAX_CONNECTIONS = 1_000

/** The maximum number of connections for each purpose. */
export interface ConnectionShares {
  metadata: number
  /** For short reads of records. */
  points: number
  /** For reads of whole tables; few, to leave the database time for other work. */
  scans: number
  writers: number
}

/**
 * Divides a server's connections. Separate shares, because a write reads metadata and records while it holds its own
 * connection: with a common pool, writes could wait for each other forever.
 *
 * @param total from `MIN_CONNECTIONS`; one of them listens to the other servers
 */
export function connectionShares(total: number): ConnectionShares {
  const shared = total - 1
  const scans = Math.max(1, Math.floor(shared / 6))
  const metadata = Math.max(1, Math.floor(shared / 5))
  const writers = Math.max(1, Math.floor(shared / 3))
  return { metadata, scans, writers, points: shared - scans - metadata - writers }
}
