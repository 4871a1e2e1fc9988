import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CellValue } from '../../core/fields/field-type.ts'
import type { Statement } from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { bound } from '../../dialects/standard-sql.ts'
import type { BulkWatch, BulkWriter, RowShape } from '../bulk-writer.ts'
import type { PostgresConnection } from '../connection.ts'
import { connectPostgres } from './driver.ts'
import { OWN_DATABASE } from './errors.ts'
import type { Lane } from './lanes.ts'
import { rollBack, transactionOn } from './lanes.ts'
import { createRefusedValues } from './refused-values.ts'

/** Writes to a schema through a separate connection, rows by `copy`, PostgreSQL's fastest way. */
export function openPostgresBulkWriter(
  connection: PostgresConnection,
  schema: string,
  { refusedBy }: BulkWatch,
): BulkWriter {
  let isLost = false
  const lost = Promise.withResolvers<never>()
  const client = connectPostgres(connection, {
    searchPath: quotePostgres(schema),
    statementTimeoutMs: 0,
    onclose() {
      isLost = true
      lost.reject(connectionLost())
    },
  })
  lost.promise.catch(() => {})
  const refuseLost = () => {
    if (isLost) throw connectionLost()
  }
  const lane: Lane = {
    async query({ sql, params }) {
      refuseLost()
      // Few distinct texts, all repeated.
      const rows = await client.unsafe(sql, bound(params), { prepare: true })
      return { rows, count: rows.count ?? 0 }
    },
    async command(text) {
      refuseLost()
      await client.unsafe(text)
    },
  }
  const { explained, repeatLong } = createRefusedValues({
    connection,
    schema,
    source: OWN_DATABASE,
    all: async <T>(statement: Statement) => (await lane.query(statement)).rows as T[],
    refusedBy,
  })

  async function copy(shape: RowShape, rows: CellValue[][]): Promise<void> {
    // Durable with the next `write`, whose commit flushes all earlier ones.
    await lane.command('set synchronous_commit to off')
    const columns = [...shape.constants.map(({ column }) => column), ...shape.columns].map(quotePostgres)
    const stream = await client
      .unsafe(`copy ${quotePostgres(shape.table)} (${columns.join(', ')}) from stdin`)
      .writable()
    const fixed = shape.constants.map(({ value }) => copyText(value))
    const lines = rows.map((row) => `${[...fixed, ...row.map(copyText)].join('\t')}\n`)
    // The driver leaves a stream open whose connection is lost.
    await Promise.race([pipeline(Readable.from([Buffer.from(lines.join(''))]), stream), lost.promise])
  }

  async function write<T>(work: Parameters<BulkWriter['write']>[0]): Promise<T> {
    await lane.command('set synchronous_commit to on; begin')
    try {
      const tx = transactionOn(lane)
      const result = await work(tx)
      await tx.settle()
      await lane.command('commit')
      return result as T
    } catch (error) {
      await rollBack(lane)
      throw error
    }
  }

  return {
    dialect: postgres,
    insert: (shape, rows) => explained(copy(shape, rows)),
    write: (work) => explained(write(work)),
    repeat: (attempt, signal) => repeatLong(attempt, { signal }),
    checkpoint() {},
    // The driver waits in vain for a stream whose connection is lost.
    close: () => client.end({ timeout: isLost ? 0 : 5 }),
  }
}

const connectionLost = (): Error =>
  Object.assign(new Error('The connection was lost'), { code: 'CONNECTION_CLOSED' })

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A value in the text format of `copy`: https://www.postgresql.org/docs/current/sql-copy.html */
export function copyText(value: CellValue): string {
  if (value === null) return '\\N'
  return typeof value === 'string'
    ? value.replace(/[\\\n\r\t]/g, (sign) => ESCAPES[sign] ?? sign)
    : String(value)
}
