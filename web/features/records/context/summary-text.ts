import { shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import { findSummary } from '../../../../src/core/summaries.ts'
import { formatFileSize } from '../../../attachments/format-bytes.ts'
import { localeTag } from '../../../i18n.ts'

/** Formats a summary's value; `–` for null. */
export function summaryText(field: Field, key: string, value: CellValue): string {
  const form = findSummary(key)?.form ?? 'number'
  if (value === null) return '–'
  // A rollup of durations is a duration too.
  const { type, options } = shownType(field)
  if (typeof value !== 'number') return type.format(value, options)
  if (form === 'bytes') return formatFileSize(value)
  if (form === 'percent')
    return new Intl.NumberFormat(localeTag(), { style: 'percent', maximumFractionDigits: 1 }).format(
      value / 100,
    )
  return form === 'value' && type.summaryText
    ? type.summaryText(value, options, localeTag())
    : new Intl.NumberFormat(localeTag(), { maximumFractionDigits: 2 }).format(value)
}
