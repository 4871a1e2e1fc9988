import type { EngineLocation } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { openPostgresStore, type PostgresClient } from '../move/postgres-store.ts'
import { openSqliteStore, openStoreFile } from '../move/sqlite-store.ts'
import type { TableStore } from '../move/store.ts'
import { connectPostgres } from '../postgres/driver.ts'

const EXACT = { isJsonExact: true }

type Access = {
  isSnapshot: boolean
  /** Others write to the home as well, and make it durable. */
  isShared?: boolean
}
type Work<T> = (store: TableStore) => Promise<T>

type Openers = {
  [C in EngineLocation['client']]: <T>(
    location: Extract<EngineLocation, { client: C }>,
    access: Access,
    work: Work<T>,
  ) => Promise<T>
}

const OPENERS: Openers = {
  async sqlite3({ file: path }, { isSnapshot, isShared = false }, work) {
    const file = openStoreFile(path)
    try {
      if (isSnapshot) file.run('begin')
      // Only the checkpoint below waits for the disk, or the next commit of the server.
      else file.run('pragma synchronous = normal')
      const result = await work(openSqliteStore(file, path, EXACT))
      if (!isSnapshot && !isShared) file.run('pragma wal_checkpoint(truncate)')
      return result
    } finally {
      // Closed whatever fails, so that a file that is removed takes no room.
      try {
        if (file.inTransaction) file.run('rollback')
      } finally {
        file.close()
      }
    }
  },
  async pg<T>(
    { connection, schema }: Extract<EngineLocation, { client: 'pg' }>,
    { isSnapshot }: Access,
    work: Work<T>,
  ) {
    const storeOn = (on: PostgresClient) => openPostgresStore(on, schema, schema, async () => {}, EXACT)
    const client = connectPostgres(connection, { searchPath: quotePostgres(schema), statementTimeoutMs: 0 })
    try {
      if (!isSnapshot) {
        // The next commit on the server makes the earlier ones durable.
        await client.unsafe('set synchronous_commit to off')
        return await work(storeOn(client))
      }
      const snapshot = client.begin('isolation level repeatable read read only', (tx) => work(storeOn(tx)))
      return (await snapshot) as T
    } finally {
      await client.end({ timeout: 5 })
    }
  },
  mysql2() {
    throw new Error('No base has its home in MySQL')
  },
}

/**
 * Runs `work` on the tables of a base's home, from a worker thread. With `isSnapshot`, all reads see the home at one
 * moment, and nothing can be written. Without, what is written to a home in PostgreSQL is durable with the next commit of
 * anybody else there, such as the one that publishes the base.
 *
 * @throws Error for a location that is no home
 */
export function withHome<T>(location: EngineLocation, access: Access, work: Work<T>): Promise<T> {
  const open = OPENERS[location.client] as (
    location: EngineLocation,
    access: Access,
    work: Work<T>,
  ) => Promise<T>
  return open(location, access, work)
}
