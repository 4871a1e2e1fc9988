import type { Sql } from 'postgres'

/**
 * What this process works on, so that others over the same metadata leave it alone. A claim ends with the
 * process, however that ends.
 */
export interface Claims {
  /** False where another process has it. One's own is given again. */
  take(key: string): Promise<boolean>
  release(key: string): Promise<void>
}

/** For metadata that no other process can open. */
export const UNSHARED: Claims = { take: async () => true, release: async () => {} }

/**
 * Claims as advisory locks of a session.
 *
 * @param client of one connection, which nobody else uses; where that is lost, the claims are, too
 */
export function createPostgresClaims(client: Sql): Claims {
  const keyOf = (key: string): string => `sheaf claim ${key}`
  return {
    async take(key) {
      const [row] = await client<{ got: boolean }[]>`
        select pg_try_advisory_lock(hashtextextended(${keyOf(key)}, 0)) as got`
      return row?.got === true
    },
    async release(key) {
      await client`select pg_advisory_unlock(hashtextextended(${keyOf(key)}, 0))`
    },
  }
}
