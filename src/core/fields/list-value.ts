import type { RecordId } from '../ids.ts'
import { parseJsonText } from '../json-text.ts'
import type { CellValue } from './field-type.ts'

// Lists are stored as JSON text, so that cells can be compared, logged and sent like scalar values.

/** Maximum linked records that a cell lists by name; the rest is only counted. */
export const LISTED_LINKS = 10

/** A linked record as a cell shows it. `title` is the text of its display field. */
export interface LinkedRecord {
  id: RecordId
  title: CellValue
}

/** A link's cell: the number of linked records, and the first of them with names. */
export interface LinkedRecords {
  count: number
  records: LinkedRecord[]
}

/**
 * Reads a link's cell, e.g. `[3,[[1,"Hobbit"],[2,"LOTR"]]]`: the count and the first records in the order of their
 * table. Null and invalid text give no records.
 */
export function readLinks(value: CellValue): LinkedRecords {
  const parsed = parse(value)
  const [count, pairs] = parsed
  if (typeof count !== 'number' || !Array.isArray(pairs)) return { count: 0, records: [] }
  return { count, records: pairs.map(([id, title]) => ({ id, title: title ?? null })) }
}

/** The cell value of a link with these records. */
export const writeLinks = ({ count, records }: LinkedRecords): string =>
  JSON.stringify([count, records.map(({ id, title }) => [id, title])])

/** Reads a cell with a list of values, e.g. of a lookup: `["Hobbit","LOTR"]`. */
export function readList(value: CellValue): CellValue[] {
  return parse(value) as CellValue[]
}

/**
 * Reads the ids that a change sets in a link field, e.g. `[1,2]`; they replace the linked records. Null and the empty
 * text give an empty list, invalid text gives null.
 */
export function readLinkIds(value: CellValue): RecordId[] | null {
  if (value === null || value === '') return []
  const list = parse(value)
  const isIds = Array.isArray(list) && list.every((id) => typeof id === 'number' || typeof id === 'string')
  return isIds && (list.length > 0 || value === '[]') ? (list as RecordId[]) : null
}

function parse(value: CellValue): unknown[] {
  if (typeof value !== 'string' || !value.startsWith('[')) return []
  try {
    const parsed: unknown = parseJsonText(value)
    return Array.isArray(parsed) ? parsed : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** Names that need quotes in a list: with a comma, a leading quote or outer whitespace, and the empty name. */
const NEEDS_QUOTES = /,|^"|^\s|\s$|^$/

/** One quoted name, or any text up to the next comma. */
const PIECE = /\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/y

/**
 * Joins names for exports and the clipboard, quoted like CSV (RFC 4180) where needed: `Ann, "Doe, Jane", "say
 * ""hi"""`. `readNameList` restores them exactly.
 */
export const writeNameList = (names: readonly string[]): string =>
  names.map((name) => (NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(', ')

/** Parses a list of names in order. Unmatched quotes are part of the names. */
export function readNameList(text: string): string[] {
  const names: string[] = []
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < text.length) {
    const [, quoted, plain = ''] = PIECE.exec(text) ?? []
    const name = quoted?.replaceAll('""', '"') ?? plain.trim()
    if (name !== '') names.push(name)
  }
  return names
}
