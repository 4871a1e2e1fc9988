import type { Field } from './field.ts'
import { type Read, readFail } from './field-type.ts'

const SIZED_TEXT = /^(?:n?(?:var)?char|character(?: varying)?)\s*\((\d+)\)$/i

/**
 * How many characters the column of a connected database takes, from its type; null for no limit.
 * @example lengthLimit({ databaseType: 'character varying(45)' }) // 45
 */
export function lengthLimit({ databaseType }: Pick<Field, 'databaseType'>): number | null {
  const [, size] = (databaseType && SIZED_TEXT.exec(databaseType)) || []
  return size === undefined ? null : Number(size)
}

/** A text that was read, held against its column: databases refuse what is longer in words of their own. */
export function withinColumn(limit: number | null, read: Read): Read {
  if (limit === null || !read.ok || typeof read.value !== 'string') return read
  // Databases count characters, of which one may take two places in a text here.
  const isLong = read.value.length > limit && [...read.value].length > limit
  return isLong ? readFail(`The column allows up to ${limit} characters`) : read
}
