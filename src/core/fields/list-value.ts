import type { RecordId } from '../ids.ts'
import { parseJsonText } from '../json-text.ts'
import type { CellValue } from './field-type.ts'

/**
 * Values of several at once, as JSON text: a cell's value stays one that can be compared, logged and
 * sent like any other.
 */

/** Linked records that a cell carries with their names; of more it says only how many. */
export const LISTED_LINKS = 10

/** A linked record as a cell shows it. `title` is the text of its display field. */
export interface LinkedRecord {
  id: RecordId
  title: CellValue
}

/** Content of a link's cell: the number of linked records, and the first of them by name. */
export interface LinkedRecords {
  count: number
  records: LinkedRecord[]
}

/**
 * Reads the cell of a link: `[3,[[1,"Hobbit"],[2,"LOTR"]]]`, the count and the first of the records in
 * their table's order. Null and what is no such text are no records.
 */
export function readLinks(value: CellValue): LinkedRecords {
  const parsed = parse(value)
  const [count, pairs] = parsed
  if (typeof count !== 'number' || !Array.isArray(pairs)) return { count: 0, records: [] }
  return { count, records: pairs.map(([id, title]) => ({ id, title: title ?? null })) }
}

/** The cell of a link that holds these records. */
export const writeLinks = ({ count, records }: LinkedRecords): string =>
  JSON.stringify([count, records.map(({ id, title }) => [id, title])])

/** The values of a cell that holds any number of them, e.g. a lookup's: `["Hobbit","LOTR"]`. */
export function readList(value: CellValue): CellValue[] {
  return parse(value) as CellValue[]
}

/**
 * Ids as a change gives them to a link field: `[1,2]`. It then holds exactly these; null is none.
 * Null where the text is no such list.
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

/**
 * Names in one line of text, as exports and the clipboard have them: with a comma and a blank between. A name that
 * would be read otherwise stands in quotes, as a value of CSV does (RFC 4180): `Ann, "Doe, Jane", "say ""hi"""`.
 */

/** Names that need quotes: with a separator, a leading quote, or outer blanks, and the empty name. */
const NEEDS_QUOTES = /,|^"|^\s|\s$|^$/

/** One name, or another piece of such a list, between quotes and its end, or up to the next comma. */
const PIECE = /\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/y

/** The list of some names, which `readNameList` reads back letter by letter. */
export const writeNameList = (names: readonly string[]): string =>
  names.map((name) => (NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(', ')

/** The names in a list, in its order. Quotes that do not match belong to the names. */
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
