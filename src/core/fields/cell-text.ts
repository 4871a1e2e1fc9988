import type { Field, Person } from '../model.ts'
import { writeFileList } from './attachment-item.ts'
import { shownType } from './field.ts'
import { type CellValue, formatPlain } from './field-type.ts'
import { readFormulaLink } from './formula.ts'
import { fieldType } from './index.ts'
import { readList } from './list-value.ts'
import { inZone, withPeople as optionsWithPeople } from './traits.ts'

/** Who reads a text, and where. */
export interface TextOptions {
  /** May grow between calls of a formatter. */
  people: readonly Person[]
  /** The caller's time zone, for fields that follow the local clock. */
  timeZone: string
}

/**
 * Returns a function that formats the field's values as readable text that an import accepts: people by e-mail, links
 * by their names, files with their path, lists separated by commas.
 */
export function cellFormatter(field: Field, { people, timeZone }: TextOptions): (value: CellValue) => string {
  const { type, options, isList } = shownType(field)
  const shown = inZone(optionsWithPeople(type.name, options, people), timeZone)
  const format = (value: CellValue): string => {
    if (!isList) return type.holdsFiles ? writeFileList(value) : type.format(value, shown)
    return readList(value)
      .map((each) => (each === null ? '' : type.format(each, shown)))
      .filter((text) => text !== '')
      .join(', ')
  }
  if (fieldType(field.type).computed !== 'formula') return (value) => (value === null ? '' : format(value))
  return (value) => {
    if (value === null) return ''
    const link = typeof value === 'string' ? readFormulaLink(value) : null
    return link ?? format(value)
  }
}

/** True if `cellFormatter` gives the field's texts and numbers unchanged. */
export function isShownPlain(field: Field): boolean {
  const { type, isList } = shownType(field)
  // The text of a formula may be a link.
  return (
    !isList && !type.holdsFiles && type.format === formatPlain && fieldType(field.type).computed !== 'formula'
  )
}

/** One value as text, see `cellFormatter`. */
export const cellText = (field: Field, value: CellValue, options: TextOptions): string =>
  cellFormatter(field, options)(value)
