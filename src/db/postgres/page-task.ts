import type { Engine, FilePage, Statement } from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'
import { PoolTaskError, type WorkerPool } from '../../pool.ts'
import type { WrittenPage } from '../../record-files/index.ts'
import type { PostgresConnection } from '../connection.ts'
import { writePage } from '../write-page.ts'
import { isLostConnection, isStalePlan } from './errors.ts'
import { type Lanes, openLanes } from './lanes.ts'

/** A page of 500 records takes milliseconds. */
const PAGE_TIMEOUT_MS = 60_000

/** A page of a schema for a worker. */
export interface PostgresPage extends Statement {
  connection: PostgresConnection
  schema: string
  page: FilePage
}

/** The connection of this thread to each database; there is only that of `DATABASE_URL`. It closes after a minute. */
const lanes = new Map<string, Lanes>()

/** Reads and writes a page in a worker thread, so that the main thread does not decode the rows. */
export async function readPostgresPage({
  connection,
  schema,
  page,
  ...statement
}: PostgresPage): Promise<WrittenPage> {
  const address = JSON.stringify(connection)
  const own = lanes.get(address) ?? openLanes(connection, { max: 1, statementTimeoutMs: PAGE_TIMEOUT_MS })
  lanes.set(address, own)
  const ask = () => own.use(schema, (lane) => lane.query(statement, { arrays: true }))
  const { rows } = await ask().catch((error) => {
    if (!isLostConnection(error) && !isStalePlan(error)) throw error
    return ask()
  })
  return writePage(rows as unknown[][], page, postgres)
}

/** `Engine.writePage` of a schema. */
export const pagesInWorkers =
  (
    pool: WorkerPool,
    connection: PostgresConnection,
    schema: string,
    { values, dialect }: Pick<Engine, 'values' | 'dialect'>,
  ): NonNullable<Engine['writePage']> =>
  async ({ sql, params }, page) => {
    const readHere = async () => writePage(await values({ sql, params }, { scan: true }), page, dialect)
    // Threads cannot be stopped, while a read on a connection of the pool ends with its request.
    if (page.isWide) return readHere()
    try {
      const input: PostgresPage = { connection, schema, sql, params, page }
      return (await pool.run('postgres.page', input, 'read', schema)) as WrittenPage
    } catch (error) {
      if (!(error instanceof PoolTaskError)) throw error
      // The thread got no connection, perhaps because there are too many: a connection of the pool has the answer, or
      // an error that can be shown.
      return readHere()
    }
  }
