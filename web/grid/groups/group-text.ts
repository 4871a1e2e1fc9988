import { DATE_FORMATS, type DateFormat, formatDay } from '../../../src/core/fields/date-text.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { cellText } from '../../cells/index.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'

/**
 * A group's value as text if it is not a cell value: timestamps group by day, links by title or count. Null: draw it
 * as a cell.
 */
export function groupText(field: Field, value: CellValue): string | null {
  if (value === null) return m.grid_empty()
  if (linkOf(field) !== null && !field.result) {
    return typeof value === 'number' ? m.grid_links_count({ count: value }) : String(value)
  }
  const { type, options, isList } = shownType(field)
  if (isList) return null
  if (type.storage === 'datetime') return formatDay(String(value), dayFormat(options.format))
  if (value === 0 && type.initial === 0) return formatNumber(0)
  return null
}

const dayFormat = (format: unknown): DateFormat =>
  DATE_FORMATS.find((each) => each === format) ?? 'YYYY-MM-DD'

/** The value of a group as text. */
export function groupName(field: Field, value: CellValue, people?: ReadonlyMap<string, Person>): string {
  if (shownType(field).type.storage === 'boolean' && !shownType(field).isList) {
    return value === true ? m.common_checked() : m.common_not_checked()
  }
  return groupText(field, value) ?? cellText(field, value, people)
}
