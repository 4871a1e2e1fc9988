import type { CellValue } from '../../src/core/fields/field-type.ts'
import {
  type LinkedRecord,
  type LinkedRecords,
  readLinks,
  readList,
  writeLinks,
} from '../../src/core/fields/list-value.ts'
import { m } from '../messages.gen.ts'

/** Maximum number of cached values, enough for several screens. */
const REMEMBERED = 4000

/** Caches parsed values, so that cells are not parsed again when they scroll back in. */
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

/** The linked records of a cell. Shared: do not mutate the result. */
export const linksIn: (value: CellValue) => Readonly<LinkedRecords> = remembering(readLinks)

/** The values of a list cell. Shared: do not mutate the result. */
export const listIn: (value: CellValue) => readonly CellValue[] = remembering(readList)

/** The stored value for exactly these links; null if there are none. */
export const linkValue = (records: readonly LinkedRecord[]): CellValue =>
  records.length === 0 ? null : writeLinks({ count: records.length, records: [...records] })

/** True if the cell lists only part of its links, so that writing it would drop the rest. */
export function isPartial(value: CellValue): boolean {
  const { count, records } = linksIn(value)
  return count > records.length
}

/** True for an empty link or list cell. */
export const isEmptyList = (value: CellValue): boolean =>
  value === null || value === '' || value === '[]' || value === '[0,[]]'

/** Display name of a linked record. */
export const titleOf = ({ id, title }: LinkedRecord): string =>
  title === null || title === '' ? m.common_record_id({ id: String(id) }) : String(title)
