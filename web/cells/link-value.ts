import type { CellValue } from '../../src/core/fields/field-type.ts'
import {
  type LinkedRecord,
  type LinkedRecords,
  readLinks,
  readList,
  writeLinks,
} from '../../src/core/fields/list-value.ts'
import { m } from '../messages.gen.ts'

/** Texts that are remembered as read: some screens of them. */
const REMEMBERED = 4000

/** Reads each text once: a cell that scrolls in again, or is drawn anew, is not parsed a second time. */
function remembering<T>(read: (value: CellValue) => T): (value: CellValue) => T {
  const known = new Map<string, T>()
  return (value) => {
    if (typeof value !== 'string') return read(value)
    const before = known.get(value)
    if (before !== undefined) return before
    if (known.size >= REMEMBERED) known.clear()
    const fresh = read(value)
    known.set(value, fresh)
    return fresh
  }
}

/** The records of a link's cell. Do not alter what it gives: it is shared. */
export const linksIn: (value: CellValue) => Readonly<LinkedRecords> = remembering(readLinks)

/** The values of a cell that holds a list. Do not alter what it gives: it is shared. */
export const listIn: (value: CellValue) => readonly CellValue[] = remembering(readList)

/** The value of a link's cell that holds exactly these records; null for none, as it is written. */
export const linkValue = (records: readonly LinkedRecord[]): CellValue =>
  records.length === 0 ? null : writeLinks({ count: records.length, records: [...records] })

/** True where more records are linked than the cell names: written as it is, it would lose some. */
export function isPartial(value: CellValue): boolean {
  const { count, records } = linksIn(value)
  return count > records.length
}

/** True for a cell of a link or a list without anything in it. */
export const isEmptyList = (value: CellValue): boolean =>
  value === null || value === '' || value === '[]' || value === '[0,[]]'

/** What a linked record is called. */
export const titleOf = ({ id, title }: LinkedRecord): string =>
  title === null || title === '' ? m.common_record_id({ id: String(id) }) : String(title)
