import { exactNumber } from '../dialects/exact-number.ts'

/**
 * A value of a file that is not ours, as cells have it: whole numbers of 64 bits where JavaScript has them, else
 * as text, and bytes in hexadecimal.
 */
export function exactValue(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return exactNumber(value)
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
}

/** The rows with their values made exact, in place; objects and arrays alike. */
export function exactRows<T>(rows: T[]): T[] {
  for (const row of rows as Record<string, unknown>[]) {
    for (const key in row) row[key] = exactValue(row[key])
  }
  return rows
}
