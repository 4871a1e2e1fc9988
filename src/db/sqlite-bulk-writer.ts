import { Database } from 'bun:sqlite'
import type { Statement, Transaction } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { bound } from '../dialects/standard-sql.ts'
import type { BulkWriter, RowShape } from './bulk-writer.ts'

/** Bound values per call: more rows per statement save calls, but longer statements cost more to bind. */
const VALUES_PER_CALL = 160

/** Writes to a file through a separate connection. */
export function openSqliteBulkWriter(path: string): BulkWriter {
  const file = new Database(path, { readwrite: true, create: false, strict: true })
  file.run('pragma busy_timeout = 5000')
  // Small cache and no memory mapping: written pages are not read again, so memory stays constant.
  file.run('pragma cache_size = -8192')
  file.run('pragma mmap_size = 0')
  file.run('pragma temp_store = file')
  // `checkpoint` runs outside the lease.
  file.run('pragma wal_autocheckpoint = 0')
  file.run('pragma synchronous = normal')

  const tx: Transaction = {
    run: async ({ sql, params }) => ({ changes: file.prepare(sql).run(...bound(params)).changes }),
    runMany: async (sql, rows) => {
      const prepared = file.prepare(sql)
      for (const row of rows) prepared.run(...bound(row))
    },
    all: async <T>({ sql, params }: Statement) => file.prepare(sql).all(...bound(params)) as T[],
    insertOne: async ({ sql, params }, key) => {
      const returning = file.prepare(`${sql} returning ${sqlite.quote(key)} as key`)
      const [row] = returning.all(...bound(params)) as { key: unknown }[]
      return row?.key
    },
    insertMany: async ({ sql, params }, key) => {
      const returning = file.prepare(`${sql} returning ${sqlite.quote(key)} as key`)
      return (returning.all(...bound(params)) as { key: unknown }[]).map((row) => row.key)
    },
  }

  return {
    dialect: sqlite,
    async insert(shape, rows) {
      const group = Math.max(1, Math.floor(VALUES_PER_CALL / Math.max(1, shape.columns.length)))
      const fixed = shape.constants.map(({ value }) => value)
      const whole = rows.length - (rows.length % group)
      file.run('begin immediate')
      try {
        const many = file.query(insertSql(shape, group))
        for (let at = 0; at < whole; at += group) {
          many.run(...bound(fixed.concat(...rows.slice(at, at + group))))
        }
        const one = file.query(insertSql(shape, 1))
        for (const row of rows.slice(whole)) one.run(...bound(fixed.concat(row)))
        file.run('commit')
      } catch (error) {
        if (file.inTransaction) file.run('rollback')
        throw error
      }
    },
    async write(work) {
      file.run('pragma synchronous = full')
      file.run('begin immediate')
      try {
        const result = await work(tx)
        file.run('commit')
        return result
      } catch (error) {
        if (file.inTransaction) file.run('rollback')
        throw error
      } finally {
        file.run('pragma synchronous = normal')
      }
    },
    // Indexes of SQLite refuse no value.
    repeat: (attempt) => attempt(),
    checkpoint: () => file.run('pragma wal_checkpoint(passive)'),
    close: async () => file.close(),
  }
}

/** `?1`, `?2`, … stand for the constants in every row; the rows' own values follow them. */
function insertSql({ table, columns, constants }: RowShape, rows: number): string {
  const names = [...constants.map(({ column }) => column), ...columns].map(sqlite.quote)
  const fixed = constants.map((_, index) => `?${index + 1}`)
  const row = (at: number) => {
    const own = columns.map((_, index) => `?${fixed.length + at * columns.length + index + 1}`)
    return `(${[...fixed, ...own].join(', ')})`
  }
  const values = Array.from({ length: rows }, (_, at) => row(at))
  return `insert into ${sqlite.quote(table)} (${names.join(', ')}) values ${values.join(', ')}`
}
