import { DATE_FORMATS, type DateFormat } from '../../../src/core/fields/date-text.ts'
import { shownType } from '../../../src/core/fields/result.ts'
import type { Field } from '../../../src/core/model.ts'

/** The format in which the cells of a date field show their days. */
export function dayFormatOf(field: Field): DateFormat {
  const { format } = shownType(field).options
  return DATE_FORMATS.find((one) => one === format) ?? 'YYYY-MM-DD'
}
