import { LRUCache } from 'lru-cache'
import type { Engine, FilePage, Statement } from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { PoolTaskError, type WorkerPool } from '../../pool.ts'
import type { WrittenPage } from '../../record-files/index.ts'
import type { PostgresConnection } from '../connection.ts'
import { writePage } from '../write-page.ts'
import { parserOfText } from './driver.ts'
import { isLostConnection, isStalePlan } from './errors.ts'
import { type Lane, type Lanes, openLanes } from './lanes.ts'

/** A page of 1,000 records takes milliseconds. */
const PAGE_TIMEOUT_MS = 60_000

/** A page of a schema for a worker. */
export interface PostgresPage extends Statement {
  connection: PostgresConnection
  schema: string
  page: FilePage
}

/** The connection of this thread to each database; there is only that of `DATABASE_URL`. It closes after a minute. */
const lanes = new Map<string, Lanes>()

/** Between the cells of a row, and between rows. Texts may have them as well, see `unpack`. */
const CELL = '\x1f'
const ROW = '\x1d'
const NULL = '\x1e'

/** A function takes at most 100 arguments. */
const MAX_ARGUMENTS = 90

/** Statements with a column whose text does not tell its value. */
const unpackable = new LRUCache<string, true>({ max: 100 })

/** The rows of a statement in one row: their types, their texts, and the numbers that tell whether these are unambiguous. */
interface PackedRows {
  types: string | null
  count: number
  nulls: number | null
  texts: string | null
}

/**
 * The rows of a statement. They come as one text: taking that apart costs half as much as the messages of the protocol,
 * each with a length before each value.
 *
 * @param columns their number
 */
async function readRows(lane: Lane, statement: Statement, columns: number): Promise<unknown[][]> {
  if (!unpackable.has(statement.sql)) {
    const packed = { sql: packedSql(statement.sql, columns), params: statement.params }
    const [found] = (await lane.query(packed)).rows as PackedRows[]
    const rows = found && unpack(found, columns)
    if (rows) return rows
    if (rows === undefined) unpackable.set(statement.sql, true)
  }
  return (await lane.query(statement, { arrays: true })).rows as unknown[][]
}

function packedSql(sql: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, at) => `c${at}`)
  const parts = Array.from({ length: Math.ceil(columns / MAX_ARGUMENTS) }, (_, at) =>
    names.slice(at * MAX_ARGUMENTS, (at + 1) * MAX_ARGUMENTS),
  )
  const cells = parts.map((part) => joined(part.map((name) => `coalesce(${name}::text, ${quoteText(NULL)})`)))
  const nulls = parts.map((part) => `num_nulls(${part.join(', ')})`).join(' + ')
  const types = names.map((name) => `pg_typeof(${name})::oid::bigint`).join(', ')
  // The types come with the values: the same statement may read others once a column has been replaced.
  return `with page (${names.join(', ')}) as materialized (${sql})
    select (select array[${types}] from page limit 1)::text as types, count(*) as count, sum(${nulls}) as nulls,
      string_agg(${joined(cells)}, ${quoteText(ROW)}) as texts
    from page`
}

const joined = (texts: string[]): string => `concat_ws(${[quoteText(CELL), ...texts].join(', ')})`

/** The rows. Null if a text has one of the separators; undefined if a column has a type whose text does not tell its value. */
function unpack({ types, count, nulls, texts }: PackedRows, columns: number): unknown[][] | null | undefined {
  if (types === null || texts === null) return []
  const parsers = types
    .slice(1, -1)
    .split(',')
    .map((oid) => parserOfText(Number(oid)))
  if (parsers.includes(undefined)) return undefined
  const lines = texts.split(ROW)
  if (lines.length !== count) return null
  const rows: unknown[][] = []
  let empty = 0
  for (const line of lines) {
    const cells: unknown[] = line.split(CELL)
    if (cells.length !== columns) return null
    for (let at = 0; at < columns; at++) {
      if (cells[at] === NULL) {
        cells[at] = null
        empty++
      } else {
        const parse = parsers[at]
        if (parse) cells[at] = parse(cells[at] as string)
      }
    }
    rows.push(cells)
  }
  return empty === Number(nulls) ? rows : null
}

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
  // The fields, and the id.
  const columns = page.table.fields.length + 1
  const ask = () => own.use(schema, (lane) => readRows(lane, statement, columns))
  const rows = await ask().catch((error) => {
    if (!isLostConnection(error) && !isStalePlan(error)) throw error
    return ask()
  })
  return writePage(rows, page, postgres)
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
