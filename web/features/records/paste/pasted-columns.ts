import type { DayReading } from '../../../../src/core/fields/day-reading.ts'
import { isEmptyWord } from '../../../../src/core/fields/empty-words.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { parseCell } from '../../../../src/core/fields/notations.ts'
import type { DecimalMark } from '../../../../src/core/fields/number-text.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { FieldInput } from '../../schema/field-commands.tsx'

/** How the texts of a pasted column are read. */
export interface Notation {
  /** Decimal separator of its numbers. */
  decimal: DecimalMark
  /** How its days are read, as a new field needs it; a field that was there has its own format. */
  reading?: DayReading | undefined
}

/** Detected fields of pasted columns. */
export interface PastedColumns {
  /** One field per column, as detected for an imported file. */
  fields: FieldInput[]
  /** One per column. */
  notations: Notation[]
}

/**
 * Finds a field for each pasted column. The detection of imports is loaded here, so that opening a table does not wait
 * for it.
 *
 * @param titles from the header row; without them the server names the fields
 */
export async function detectColumns(
  columns: readonly (readonly string[])[],
  titles?: readonly string[],
): Promise<PastedColumns> {
  const [{ detectFields }, { detectDecimalMark }] = await Promise.all([
    import('../../../../src/core/fields/detect.ts'),
    import('../../../../src/core/fields/detect-numbers.ts'),
  ])
  const length = columns.reduce((most, texts) => Math.max(most, texts.length), 0)
  const rows = Array.from({ length }, (_, row) => columns.map((texts) => texts[row] ?? ''))
  const decimal = detectDecimalMark(columns.map((texts) => texts.filter((text) => text.trim() !== '')))
  const detected = detectFields(rows, titles ? [...titles] : null, { maxRowsToParse: length, decimal })
  const fields = columns.map((_, at): FieldInput => {
    const { type = 'SingleLineText', options } = detected[at] ?? {}
    const title = titles?.[at]?.trim()
    return { ...(title ? { title } : {}), type, ...(options ? { options } : {}) }
  })
  const notations = columns.map((_, at) => ({
    decimal: detected[at]?.decimal ?? decimal,
    reading: detected[at],
  }))
  return { fields, notations }
}

/** Parses the texts as values of a field; null for empty or invalid ones. */
export function readColumn(
  field: Pick<Field, 'type' | 'options'>,
  texts: readonly string[],
  { decimal, reading }: Partial<Notation> = {},
): CellValue[] {
  const type = fieldType(field.type)
  return texts.map((text) =>
    text === '' || isEmptyWord(text, type) ? null : parseCell(type, text, field.options, decimal, reading),
  )
}
