import { LRUCache } from 'lru-cache'

/** Numbers of rows that one insert may have, so that few statements are prepared. */
const SIZES = [32, 16, 8, 4, 2]

/** Values in a batch: with more, the rows themselves are most of the work. */
const MAX_VALUES = 1_000

const VALUES = ' values ('

/** How an engine writes inserts of several rows. */
interface InsertSyntax {
  placeholder(index: number): string
  /** Replaces `insert into`. */
  head?: string
}

/** A statement, and the rows that it writes: several only if it is an insert. */
interface Batch {
  sql: string
  /** The index of the first row. */
  from: number
  /** The number of rows. */
  size: number
}

/**
 * Returns a function that splits the rows of a statement into batches. An insert that ends with the placeholders of one row
 * becomes one of several rows: a statement for each row takes longer than to write it.
 */
export function createInsertBatches({ placeholder, head = 'insert into' }: InsertSyntax) {
  /** The texts of inserts by that for one row: prepared statements are found faster by the same text. */
  const texts = new LRUCache<string, Map<number, string>>({ max: 200 })

  const marks = (from: number, count: number): string =>
    Array.from({ length: count }, (_, index) => placeholder(from + index)).join(', ')

  function withRows(sql: string, columns: number, size: number): string {
    const known = texts.get(sql) ?? new Map<number, string>()
    texts.set(sql, known)
    const text = known.get(size)
    if (text !== undefined) return text
    const rows = Array.from({ length: size }, (_, row) => `(${marks(row * columns, columns)})`)
    const before = sql.slice('insert into'.length, sql.lastIndexOf(VALUES))
    const made = `${head}${before} values ${rows.join(', ')}`
    known.set(size, made)
    return made
  }

  return function* batchesOf(sql: string, rows: readonly unknown[][]): Generator<Batch> {
    const columns = rows[0]?.length ?? 0
    const isInsert =
      rows.length > 1 && sql.startsWith('insert into ') && sql.endsWith(`${VALUES}${marks(0, columns)})`)
    for (let from = 0; from < rows.length; ) {
      const left = rows.length - from
      const size = SIZES.find((count) => isInsert && count <= left && count * columns <= MAX_VALUES) ?? 1
      yield { sql: size === 1 ? sql : withRows(sql, columns, size), from, size }
      from += size
    }
  }
}
