import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { parseNumber } from '../../src/core/fields/number-text.ts'
import { currentLanguage, localeTag } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import type { Draft } from './cell.ts'

const formats = new WeakMap<object, { language: string; format: Intl.NumberFormat }>()

/** The number format of a field's options, made once: making one takes longer than drawing a row. */
export function numberFormat(
  options: object,
  make: (locale: string) => Intl.NumberFormat,
): Intl.NumberFormat {
  const known = formats.get(options)
  const language = currentLanguage()
  if (known?.language === language) return known.format
  const format = make(localeTag())
  formats.set(options, { language, format })
  return format
}

/** The decimal mark that the reader is used to. */
export function decimalMark(): '.' | ',' {
  const parts = new Intl.NumberFormat(localeTag()).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.'
}

/** The full value as text to be edited, with the reader's decimal mark. */
export const editedNumber = (value: CellValue): string =>
  value === null ? '' : String(value).replace('.', decimalMark())

/** Reads a number as the reader writes it, then has the field's type judge it. */
export function readNumberDraft<O>(text: string, type: FieldType<O>, options: O): Draft {
  if (text.trim() === '') return { ok: true, value: null }
  const number = parseNumber(text, decimalMark())
  const parsed = type.parse(text, options, decimalMark())
  const value = parsed ?? number
  if (value === null) return { ok: false, message: m.cells_text_is_not_a_number({ text: text.trim() }) }
  const read = type.read(value, options)
  if (!read.ok) return { ok: false, message: read.message }
  if (parsed !== null) return { ok: true, value: read.value }
  // A number that the type refuses for what stands beside it: the sign of another currency, a percent sign.
  return { ok: false, message: m.cells_text_sign_does_not_belong({ text: text.trim() }) }
}
