import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../src/core/fields/formula.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { formatValue } from '../../src/core/fields/read.ts'
import type { Field, Person } from '../../src/core/model.ts'
import { cellOf } from './cell.ts'
import { listIn } from './link-value.ts'

const NOBODY: ReadonlyMap<string, Person> = new Map()

/**
 * A cell as plain text for other programs: people by e-mail, links by title, computed values formatted by their result
 * type, lists separated by commas.
 */
export function cellText(
  field: Field,
  value: CellValue,
  people: ReadonlyMap<string, Person> = NOBODY,
): string {
  return textOf(field, value, people, () => undefined)
}

/** A cell as displayed text, for titles, tooltips and calendars. Numbers are formatted. */
export function shownText(
  field: Field,
  value: CellValue,
  people: ReadonlyMap<string, Person> = NOBODY,
): string {
  return textOf(field, value, people, (type, options, each) => cellOf(type).shownText?.(each, options))
}

function textOf(
  field: Field,
  value: CellValue,
  people: ReadonlyMap<string, Person>,
  shown: (type: FieldTypeName, options: FieldOptions, value: CellValue) => string | undefined,
): string {
  if (value === null) return ''
  const { result } = field
  const link =
    fieldType(field.type).computed === 'formula' && typeof value === 'string' ? readFormulaLink(value) : null
  if (link !== null) return link
  if (!result) {
    return (
      shown(field.type, field.options, value) ??
      cellOf(field.type).copyText?.(value, people, field) ??
      formatValue(field, value)
    )
  }
  const { type, options } = result
  const one = (each: CellValue): string =>
    each === null
      ? ''
      : (shown(type, options, each) ??
        cellOf(type).copyText?.(each, people, field) ??
        formatValue({ type, options }, each))
  if (!result.isList) return one(value)
  return listIn(value)
    .map(one)
    .filter((text) => text !== '')
    .join(', ')
}
