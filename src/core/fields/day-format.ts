import { DATE_FORMATS, type DateFormat } from './date-text.ts'
import type { Field } from './field.ts'
import { shownType } from './result.ts'

/** The format in which a date field shows its days, in cells and wherever else one is written. */
export function dayFormatOf(
  field: Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>,
): DateFormat {
  const { format } = shownType(field).options
  return DATE_FORMATS.find((one) => one === format) ?? 'YYYY-MM-DD'
}
