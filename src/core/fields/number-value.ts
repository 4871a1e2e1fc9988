import { describeValue } from './describe-value.ts'
import { type CellValue, type Read, readFail, readOk } from './field-type.ts'
import { readNumberText } from './number-text.ts'

/** Reads a finite number from a program: a JSON number, or text such as `"1.5"`. */
export function readNumber(input: unknown): Read {
  const value = typeof input === 'string' ? readNumberText(input) : input
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return readFail(`Expected a number, got ${describeValue(input)}`)
  }
  return readOk(value === 0 ? 0 : value) // 0 and -0 are one value; stored text would tell them apart
}

/** Reads a whole number within ±2^53 - 1, which every engine and JSON keep exactly. */
export function readInteger(input: unknown): Read {
  const read = readNumber(input)
  if (!read.ok) return read
  if (!Number.isInteger(read.value)) return readFail(`Expected a whole number, got ${describeValue(input)}`)
  return Number.isSafeInteger(read.value) ? read : readFail(`${describeValue(input)} is too large`)
}

/** The shortest text that reads back as the same number, without separators. */
export const formatNumber = (value: CellValue): string => (value === null ? '' : String(value))
