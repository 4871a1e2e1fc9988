import type { CellValue } from '../fields/field-type.ts'
import { linkOf } from '../fields/link-options.ts'
import { readLinks, readList } from '../fields/list-value.ts'
import { filterSetOf, isNamedLink, shownType } from '../fields/result.ts'
import type { FilterWords } from './dialect-words.ts'
import { listWords } from './list-words.ts'
import type { RowExpression } from './memory-words.ts'
import type { FilterField } from './operand.ts'

/** How the cells of rows in memory are compared: links by their number or their name, lists value by value. */
export function cellReaders<R extends Readonly<Record<string, CellValue>>>(
  words: FilterWords<RowExpression<R>>,
) {
  return {
    column(field: FilterField): RowExpression<R> {
      const cell = (row: R): CellValue => row[field.id] ?? null
      if (isNamedLink(field)) return (row) => nameOf(cell(row))
      return filterSetOf(field) === 'links' ? (row) => readLinks(cell(row)).count : cell
    },
    words(field: FilterField): FilterWords<RowExpression<R>> | null {
      if (linkOf(field) !== null) {
        return { ...words, isUnlinked: () => (row) => readLinks(row[field.id] ?? null).count === 0 }
      }
      if (!shownType(field).isList) return null
      return listWords(words, (test) => (row) => {
        const values = readList(row[field.id] ?? null).filter((value) => value !== null && value !== '')
        if (test === null) return values.length > 0
        return values.some((value) => test(() => value)(row) === true)
      })
    },
  }
}

/** A linked record without a name is not found by one. */
function nameOf(cell: CellValue): CellValue {
  const title = readLinks(cell).records[0]?.title ?? null
  return title === null ? null : String(title)
}
