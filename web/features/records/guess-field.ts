import { detectNumbers } from '../../../src/core/fields/detect-numbers.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { FieldInput } from '../schema/field-commands.tsx'

/** Types that a column of texts may be, the narrowest first. */
const CANDIDATES: readonly FieldTypeName[] = ['Number', 'Decimal', 'Date', 'DateTime', 'Checkbox']

/** Shapes that are taken for more than text only where every value has them. */
const CHECKED: readonly FieldTypeName[] = ['Email', 'URL']

const MAX_LINE = 255 // spec §5

/** The field that a pasted column becomes: of the narrowest type that holds every value. */
export function guessField(texts: readonly string[], title?: string): FieldInput {
  const filled = texts.filter((text) => text.trim() !== '')
  const named = title?.trim() ? { title: title.trim() } : {}
  const fits = (type: FieldTypeName, options: object) =>
    filled.length > 0 &&
    filled.every((text) => fieldType(type).parse(text, readOptions(type, options)) !== null)
  // "€ 99" and "42%" are more than numbers: without their sign they would be others.
  const hasSign = filled.some((text) => /[\p{Sc}%]/u.test(text))
  if (hasSign) {
    const detected = detectNumbers(filled)
    if (detected) return { ...named, ...detected }
  }
  // "1" and "0" alone are numbers rather than ticks; a leading zero is part of a code, not of a number.
  const isCode = filled.some((text) => /^0\d/.test(text.trim()))
  const plain = CANDIDATES.find(
    (type) => fits(type, {}) && !((isCode || hasSign) && (type === 'Number' || type === 'Decimal')),
  )
  if (plain) return { ...named, type: plain }
  const checked = CHECKED.find((type) => fits(type, { validate: true }))
  if (checked) return { ...named, type: checked }
  const isLong = filled.some((text) => text.includes('\n') || text.length > MAX_LINE)
  return { ...named, type: isLong ? 'LongText' : 'SingleLineText' }
}

/** The texts as values of a field; null where one does not fit. */
export function readColumn(field: Pick<Field, 'type' | 'options'>, texts: readonly string[]): CellValue[] {
  const type = fieldType(field.type)
  return texts.map((text) => (text === '' ? (type.initial ?? null) : type.parse(text, field.options)))
}
