import { LRUCache } from 'lru-cache'
import { storageOf } from '../../core/fields/field.ts'
import type { Field, RecordId } from '../../core/model.ts'
import type { Engine, FilePage, Statement } from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { PoolTaskError, type WorkerPool } from '../../pool.ts'
import {
  createTextWriter,
  SEPARATORS,
  type TextColumn,
  type TextRows,
  type TextRowsWriter,
  type WrittenPage,
} from '../../record-files/index.ts'
import type { PostgresConnection } from '../connection.ts'
import { writePage } from '../write-page.ts'
import { isNumericType, parserOfText } from './driver.ts'
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

/** Texts may have these as well. */
const CELL = String.fromCharCode(SEPARATORS.cell)
const ROW = String.fromCharCode(SEPARATORS.row)
const NULL = String.fromCharCode(SEPARATORS.null)

/** A function takes at most 100 arguments. */
const MAX_ARGUMENTS = 90

/** Statements with a column whose text does not tell its value. */
const unpackable = new LRUCache<string, true>({ max: 100 })

/** Writers of the last tables and types. */
const writers = new LRUCache<string, { write: TextRowsWriter | null }>({ max: 4 })

/** The rows of a statement as one text. */
interface PackedRows extends TextRows {
  /** The types of the columns, as a list of oids. */
  types: string
}

/**
 * The rows of a statement as one text: taking that apart costs a fraction of the messages of the protocol, each with a
 * length before each value. Its types come along, because the same statement may read others once a column has been
 * replaced.
 *
 * @param key of the first row, which tells the types
 * @returns null without this row; undefined if a column has a type whose text does not tell its value
 */
async function readPacked(
  lane: Lane,
  { sql, params }: Statement,
  columns: number,
  key: RecordId | undefined,
): Promise<PackedRows | null | undefined> {
  const packed = { sql: packedSql(sql, columns, params.length + 1), params: [...params, String(key ?? 0)] }
  const [found] = (await lane.query(packed, { bytes: true })).rows as (Buffer | null)[][]
  const [types, count, nulls, bytes] = found ?? []
  if (!types || !count || !nulls || !bytes) return null
  const text = types.toString()
  const read = columnsOf(text)
  return read && { types: text, columns: read, rows: Number(count), nulls: Number(nulls), bytes }
}

function columnsOf(types: string): TextColumn[] | undefined {
  const columns: TextColumn[] = []
  for (const oid of types.slice(1, -1).split(',').map(Number)) {
    const read = parserOfText(oid) as TextColumn['read'] | undefined
    if (read === undefined) return undefined
    columns.push({ read, isNumeric: isNumericType(oid) })
  }
  return columns
}

function packedSql(sql: string, columns: number, keyParameter: number): string {
  const names = Array.from({ length: columns }, (_, at) => `c${at}`)
  const parts = Array.from({ length: Math.ceil(columns / MAX_ARGUMENTS) }, (_, at) =>
    names.slice(at * MAX_ARGUMENTS, (at + 1) * MAX_ARGUMENTS),
  )
  const cells = parts.map((part) => joined(part.map((name) => `coalesce(${name}::text, ${quoteText(NULL)})`)))
  const nulls = parts.map((part) => `num_nulls(${part.join(', ')})`).join(' + ')
  const types = names.map((name) => `pg_typeof(${name})::oid::bigint`).join(', ')
  // `offset 0` keeps the columns from being computed for each use, and costs less than a materialized table expression.
  return `select max(array[${types}]::text) filter (where ${names.at(-1)} = $${keyParameter}::bigint), count(*), sum(${nulls}),
      string_agg(${joined(cells)}, ${quoteText(ROW)})
    from (select * from (${sql}) as page offset 0) as page (${names.join(', ')})`
}

const joined = (texts: string[]): string =>
  texts.length === 1 ? (texts[0] ?? '') : `concat_ws(${[quoteText(CELL), ...texts].join(', ')})`

/** The rows as values. Null if a text has one of the separators. */
function unpack({ bytes, columns, rows: count, nulls }: TextRows): unknown[][] | null {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split(ROW)
  if (lines.length !== count) return null
  const rows: unknown[][] = []
  let found = 0
  for (const line of lines) {
    const cells: unknown[] = line.split(CELL)
    if (cells.length !== columns.length) return null
    for (let at = 0; at < columns.length; at++) {
      if (cells[at] === NULL) {
        cells[at] = null
        found++
      } else {
        const read = columns[at]?.read
        if (read) cells[at] = read(cells[at] as string)
      }
    }
    rows.push(cells)
  }
  return found === nulls ? rows : null
}

/** The page from its packed rows. Null if a text has one of the separators. */
function writePacked(packed: PackedRows, page: FilePage): WrittenPage | null {
  const name = `${packed.types} ${JSON.stringify(page.table)}`
  let writer = writers.get(name)
  if (!writer) {
    const columns = packed.columns.map((column, at) => decodedColumn(column, page.table.fields[at]))
    writer = { write: createTextWriter(page.table, columns) }
    writers.set(name, writer)
  }
  if (writer.write) return writer.write(packed, page.recordIds, page.first)
  const rows = unpack(packed)
  return rows && writePage(rows, page, postgres)
}

/** A column that is read as the dialect does, which leaves numbers as they are. */
function decodedColumn(column: TextColumn, field: Field | undefined): TextColumn {
  const decode = field ? postgres.decode(storageOf(field)) : null
  if (!decode) return column
  const { read, isNumeric } = column
  return { read: (text) => decode(read ? read(text) : text), isNumeric }
}

async function readPage(lane: Lane, statement: Statement, page: FilePage): Promise<WrittenPage> {
  // The fields, and the id.
  const columns = page.table.fields.length + 1
  if (!unpackable.has(statement.sql)) {
    const packed = await readPacked(lane, statement, columns, page.recordIds[0])
    const written = packed && writePacked(packed, page)
    if (written) return written
    if (packed === undefined) unpackable.set(statement.sql, true)
  }
  return writePage((await lane.query(statement, { arrays: true })).rows as unknown[][], page, postgres)
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
  const ask = () => own.use(schema, (lane) => readPage(lane, statement, page))
  return ask().catch((error) => {
    if (!isLostConnection(error) && !isStalePlan(error)) throw error
    return ask()
  })
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
