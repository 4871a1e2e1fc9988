import { createContext, useContext } from 'react'
import { shownType } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { formatName, namesOf, wantsFormat } from '../../src/core/fields/linked-names.ts'
import type { LinkedRecord } from '../../src/core/fields/list-value.ts'
import type { Field } from '../../src/core/model.ts'
import { shownText } from './cell-text.ts'
import { titleOf } from './link-value.ts'
import { usePeople } from './people.ts'

/** A hook that gives the display field of a table; undefined until it is known, or where it may not be. */
export type UseDisplayField = (tableId: string) => Field | undefined

const DisplayFieldContext = createContext<UseDisplayField>(() => undefined)

/** Tells the cells below it what the display fields of linked tables are. Its value is the same for all time. */
export const DisplayFieldProvider = DisplayFieldContext.Provider

/**
 * What the records of a link are called: their names as the cells of the display field show them. Visitors of a link to a
 * view do not know the related table; the field itself tells them how names are written.
 */
export function useLinkedNames(field: Field, tableId: string): (record: LinkedRecord) => string {
  const useDisplayField = useContext(DisplayFieldContext)
  const display = useDisplayField(tableId)
  const names = namesOf(field)
  const people = usePeople()
  return (record) => {
    const { title } = record
    const told = formatName(names, title)
    if (told !== null) return told
    if (display === undefined || !isStored(display, title)) return titleOf(record)
    return shownText(display, title, people) || titleOf(record)
  }
}

/** False for a name that was picked a moment ago: it is text already. */
function isStored(display: Field, title: CellValue): boolean {
  const { storage } = shownType(display).type
  if (storage === 'date' || storage === 'datetime') return wantsFormat(title)
  return typeof title === 'number' || typeof title === 'boolean'
}
