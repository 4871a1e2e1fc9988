import type { Database, Statement as Prepared } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'
import { exactNumber } from '../dialects/exact-number.ts'

/** Prepared statements kept per connection; preparing costs more than running a short one. */
const KEPT = 400

/** Returns the prepared statement for an SQL text. */
export interface StatementCache {
  (sql: string): Prepared<unknown, never[]>
  /** Finalises all statements: a file with open statements is not closed and keeps its descriptors. */
  clear(): void
}

/** Caches prepared statements and finalises the least recently used. */
export function createStatementCache(file: Database, kept = KEPT): StatementCache {
  const cache = new LRUCache<string, Prepared<unknown, never[]>>({
    max: kept,
    dispose: (prepared) => prepared.finalize(),
  })
  const prepare = (sql: string) => {
    const known = cache.get(sql)
    if (known) return known
    const prepared = file.prepare<unknown, never[]>(sql)
    cache.set(sql, prepared)
    return prepared
  }
  return Object.assign(prepare, { clear: () => cache.clear() })
}

/** A result of one column of numbers. */
export type PackedNumbers = Float64Array | Uint32Array

/** Rows as arrays, with the names of their columns. */
export interface NamedRows {
  names: string[]
  rows: unknown[][]
}

/** The rows as objects. */
export const asObjects = <T>({ names, rows }: NamedRows): T[] =>
  rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = values[at]
    return row as T
  })

/**
 * Converts a value of an external file for cells: 64-bit integers as numbers if safe, else as text; bytes as
 * hexadecimal.
 */
export function exactValue(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return exactNumber(value)
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
}

/** Applies `exactValue` to all values in place; rows may be objects or arrays. */
export function exactRows<T>(rows: T[]): T[] {
  for (const row of rows as Record<string, unknown>[]) {
    for (const key in row) row[key] = exactValue(row[key])
  }
  return rows
}
