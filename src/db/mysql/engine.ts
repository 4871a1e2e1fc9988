import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise'
import { mapBreathing } from '../../breathe.ts'
import { currentCaller, whileWanted } from '../../caller.ts'
import { AppError } from '../../core/errors.ts'
import type { Engine, ScriptWatch, Statement, StatementResult, Transaction } from '../../dialects/dialect.ts'
import { exactNumber } from '../../dialects/exact-number.ts'
import { mysql, mysqlFor } from '../../dialects/mysql.ts'
import { currentWork } from '../../works.ts'
import type { MysqlConnection } from '../connection.ts'
import { createWriteQueue, type Turn, writePatienceMs } from '../mutex.ts'
import { untilStopped, watchedTransaction } from '../script-watch.ts'
import { connectMysql, explainMysql, hasNoEncryption, isMysqlConnectionError } from './driver.ts'

const POINT_TIMEOUT_MS = 60_000
const SCAN_TIMEOUT_MS = 10 * 60_000

/**
 * The engine of an external MySQL or MariaDB database. Statements that alter a table commit implicitly, so a `write`
 * that contains one is atomic only up to that statement.
 *
 * @param source the database's name in errors
 */
export function openMysqlEngine(connection: MysqlConnection, source: string): Engine {
  let dialect = mysql
  const onVersion = (version: string) => {
    dialect = mysqlFor(version)
  }
  const open = async (max: number, encrypted: boolean, timeoutMs: number) =>
    (await connectMysql(connection, { max, encrypted, timeoutMs }, onVersion)).promise()
  const connect = async (encrypted: boolean) => ({
    encrypted,
    points: await open(8, encrypted, POINT_TIMEOUT_MS),
    // Few connections for scans, so that they leave the server time for other work.
    scans: await open(2, encrypted, SCAN_TIMEOUT_MS),
  })
  type Pools = Awaited<ReturnType<typeof connect>>
  let pools: Promise<Pools> | null = null
  const inTurn = createWriteQueue()

  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw explainMysql(error, source)
    })

  /** `prefer` falls back to no encryption if the server offers none; the driver has no such mode. */
  async function withPools<T>(work: (pools: Pools) => Promise<T>): Promise<T> {
    pools ??= connect(true)
    const opened = pools
    const given = await opened
    try {
      return await work(given)
    } catch (error) {
      if (connection.ssl?.mode !== 'prefer' || !given.encrypted || !hasNoEncryption(error)) throw error
      // Of concurrent callers, the first switches.
      if (pools === opened) {
        pools = connect(false)
        await Promise.all([given.points.end(), given.scans.end()])
      }
      return work(await pools)
    }
  }

  async function ask(
    pool: Pool | PoolConnection,
    { sql, params }: Statement,
    rowsAsArray: boolean,
    timeout: number,
  ) {
    const [rows] = await pool.query({
      sql: withTimeLimit(sql, timeout),
      values: params,
      rowsAsArray,
      timeout,
    })
    return Array.isArray(rows) ? rows : []
  }

  /** A read that is cancelled with its caller. Without a caller, only the driver's timeout applies. */
  async function askScan({ scans, points }: Pools, statement: Statement, arrays: boolean) {
    const caller = currentCaller()
    if (!caller) return ask(scans, statement, arrays, SCAN_TIMEOUT_MS)
    const client = await scans.getConnection()
    try {
      return await whileWanted(
        caller,
        () => ask(client, statement, arrays, SCAN_TIMEOUT_MS),
        // Only another connection can kill it; if none is free, the statement's timeout ends it.
        () => points.query(`kill query ${client.threadId}`).catch(() => client.destroy()),
      )
    } finally {
      client.release()
    }
  }

  function read(statement: Statement, scan: boolean | undefined, arrays: boolean) {
    const once = () =>
      withPools((given) =>
        scan ? askScan(given, statement, arrays) : ask(given.points, statement, arrays, POINT_TIMEOUT_MS),
      )
    const answer = once().catch((error) => {
      // A restarted server has closed its connections; a read can simply be retried.
      if (!isMysqlConnectionError(error)) throw error
      return once()
    })
    return explained(answer)
  }

  async function inTransaction<T>(
    work: (tx: Transaction) => Promise<T>,
    watch: ScriptWatch | undefined,
  ): Promise<T> {
    const client = await withPools(({ points }) => points.getConnection())
    try {
      await client.beginTransaction()
      // Only another connection can end a statement.
      const kill = () => withPools(({ points }) => points.query(`kill query ${client.threadId}`))
      const result = await work(watchedTransaction(transactionOn(client, watch?.signal, kill), watch))
      watch?.commit?.()
      await client.commit()
      client.release()
      return result
    } catch (error) {
      // Closing the connection rolls back its transaction for certain.
      client.destroy()
      throw error
    }
  }

  const writeInTurn = <T>(
    work: (tx: Transaction) => Promise<T>,
    afterCommit: ((result: T) => Promise<void>) | undefined,
    turn: Turn,
    watch: ScriptWatch | undefined,
  ): Promise<T> =>
    explained(
      inTurn(async () => {
        const result = await inTransaction(work, watch)
        await afterCommit?.(result)
        return result
      }, turn),
    )

  const write: Engine['write'] = (work, afterCommit, { isFollowUp = false } = {}) => {
    if (isFollowUp) return writeInTurn(work, afterCommit, {}, undefined)
    const watch = currentWork()
    return writeInTurn(work, afterCommit, { patienceMs: writePatienceMs(), signal: watch?.signal }, watch)
  }

  let met: Promise<void> | null = null
  async function meet(): Promise<void> {
    try {
      await read({ sql: 'select 1', params: [] }, false, true)
    } catch (error) {
      // The next caller gets the connection error; the next successful connection sets the version.
      if (!(error instanceof AppError)) throw error
    }
  }

  return {
    get dialect() {
      return dialect
    },
    ready: () => {
      met ??= meet()
      return met
    },
    location: { client: 'mysql2', connection },
    all: async <T>(statement: Statement, options?: { scan?: boolean }) =>
      (await read(statement, options?.scan, false)) as T[],
    values: async (statement, options) => (await read(statement, options?.scan, true)) as unknown[][],
    column: async (statement) =>
      mapBreathing((await read(statement, true, true)) as unknown[][], ([value]) => value),
    write,
    writeTogether: (work, onCommit) => write(work, async (result) => onCommit?.(result)),
    writeScript: (script, { afterCommit, ...given } = {}) => {
      const watch = given.signal ? given : (currentWork() ?? given)
      return writeInTurn(
        async (tx) => {
          const statements = typeof script === 'function' ? await script() : script
          const results: StatementResult[] = []
          for (const statement of statements) {
            const isRead = /^\s*(select|show|with)\b/i.test(statement.sql)
            const rows = isRead ? await tx.all<Record<string, unknown>>(statement) : []
            const changes = isRead ? 0 : (await tx.run(statement)).changes
            results.push({ changes, rows })
          }
          return results
        },
        afterCommit,
        { isLong: true, signal: watch.signal },
        watch,
      )
    },
    exclusively: (work) => inTurn(work),
    explain: async (statement, table) => {
      const rows = (await read(dialect.explain(statement), false, false)) as Record<string, unknown>[]
      return dialect.readPlan(rows, table)
    },
    // MySQL has neither `create index if not exists` nor `drop index if exists`; MariaDB does.
    buildIndex: async ({ name, table, terms }) => {
      const [quotedName, quotedTable] = [dialect.quote(name), dialect.quote(table)]
      const sql = `create index ${quotedName} on ${quotedTable} (${terms.join(', ')})`
      await write(async (tx) => {
        if (!(await hasIndex(tx, table, name))) await tx.run({ sql, params: [] })
      })
      return []
    },
    dropIndex: async (table, name) => {
      const sql = `drop index ${dialect.quote(name)} on ${dialect.quote(table)}`
      await write(async (tx) => {
        if (await hasIndex(tx, table, name)) await tx.run({ sql, params: [] })
      })
    },
    close: async () => {
      const opened = await pools
      await Promise.all([opened?.points.end(), opened?.scans.end()])
    },
  }
}

async function hasIndex(tx: Transaction, table: string, name: string): Promise<boolean> {
  const found = await tx.all<{ name: string }>(mysql.listIndexes(table))
  return found.some((index) => index.name === name)
}

/**
 * Sets the server's own timeout, because the driver's only stops waiting. MySQL reads this as a comment, see
 * `driver.ts`.
 */
const withTimeLimit = (sql: string, timeoutMs: number): string =>
  `/*M!100108 set statement max_statement_time = ${timeoutMs / 1000} for */ ${sql}`

function transactionOn(
  client: PoolConnection,
  signal: AbortSignal | undefined,
  kill: () => Promise<unknown>,
): Transaction {
  const run = async ({ sql, params }: Statement): Promise<ResultSetHeader> => {
    const [header] = await untilStopped(
      signal,
      () => client.query<ResultSetHeader>({ sql, values: params }),
      kill,
    )
    return header
  }
  const all = async <T>({ sql, params }: Statement) => {
    const [rows] = await untilStopped(signal, () => client.query({ sql, values: params }), kill)
    return (Array.isArray(rows) ? rows : []) as T[]
  }
  return {
    run: async (statement) => ({ changes: (await run(statement)).affectedRows }),
    all,
    async runMany(sql, rows) {
      for (const params of rows) await run({ sql, params })
    },
    async insertOne(statement) {
      // Reports numeric keys only: null for any other generated key.
      const { insertId } = await run(statement)
      return insertId !== 0 ? insertId : null
    },
    async insertMany(statement, _key, count) {
      // MySQL returns the first number only. Those of one insert have no gaps, whatever others insert meanwhile.
      const { insertId } = await run(statement)
      if (insertId === 0) return []
      const [row] = await all<{ step: number }>({
        sql: 'select @@auto_increment_increment as step',
        params: [],
      })
      // The driver gives a text where a number is not exact.
      const [first, step] = [BigInt(insertId), BigInt(row?.step ?? 1)]
      return Array.from({ length: count }, (_, index) => exactNumber(first + BigInt(index) * step))
    },
  }
}
