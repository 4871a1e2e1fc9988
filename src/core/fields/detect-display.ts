import { isCode } from './detect-labels.ts'
import type { FieldTypeName } from './index.ts'
import { hints } from './title-words.ts'

/** How readily a type names records. Types that are not here do so only where there is nothing else. */
const BY_TYPE: Partial<Record<FieldTypeName, number>> = {
  SingleLineText: 3,
  SingleSelect: 2,
  LongText: 1.5,
  Email: 2,
  Date: 1.5,
  DateTime: 1.5,
  Year: 1.5,
  PhoneNumber: 0.5,
  URL: 0.5,
}
/** A name is shorter than this; what is twice as long is a text. */
const MAX_NAME = 60

/**
 * How well a column names the records of its table. Names and titles lead, then other text by how much it differs from
 * record to record; ids, codes and hashes come last, however unique.
 *
 * @param values the cells that are not blank
 */
export function readabilityOf(
  values: string[],
  { type, title, rows, index }: { type: FieldTypeName; title: string; rows: number; index: number },
): number {
  const byType = BY_TYPE[type]
  // The first of several that are as good.
  const byPlace = -Math.min(index, 50) / 100
  if (byType === undefined || values.length === 0) return byPlace
  const distinct = new Set(values)
  const isWords = type === 'SingleLineText' || type === 'SingleSelect' || type === 'LongText'
  const codes = isWords ? [...distinct].filter(isUnreadable).length / distinct.size : 0
  const length = values.reduce((sum, value) => sum + value.length, 0) / values.length
  const byTitle = (hints(title, 'main') ? 2 : 0) - (isWords && hints(title, 'code') ? 3 : 0)
  const byLength = length > MAX_NAME ? -1.5 * Math.min(2, length / MAX_NAME) : 0
  const differing = (3 * distinct.size) / values.length
  return byType + byTitle + byLength + byPlace + differing + values.length / rows - 5 * codes
}

const isUnreadable = (value: string): boolean => !/\p{L}/u.test(value) || isCode(value)
