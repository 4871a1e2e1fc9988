import type { CellValue } from '../../src/core/fields/field-type.ts'

/** A number to nine digits, also where it comes as text: engines add up in different orders. */
export const rounded = (value: CellValue | undefined): CellValue | undefined =>
  typeof value === 'number'
    ? Number(value.toPrecision(9))
    : typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
      ? Number(Number(value).toPrecision(9))
      : value

/** What a summary gives over values in memory. */
export function reference(summary: string, values: CellValue[]): CellValue {
  const filled = values.filter((value) => value !== null && value !== '')
  const numbers = filled.map(Number).sort((a, b) => a - b)
  const sum = numbers.reduce((a, b) => a + b, 0)
  const mean = sum / numbers.length
  const checked = values.filter((value) => value === true).length
  const percent = (part: number) => (part / values.length) * 100
  const table: Record<string, () => CellValue> = {
    count: () => values.length,
    filled: () => filled.length,
    empty: () => values.length - filled.length,
    unique: () => new Set(filled).size,
    percentFilled: () => percent(filled.length),
    percentEmpty: () => percent(values.length - filled.length),
    percentUnique: () => percent(new Set(filled).size),
    checked: () => checked,
    unchecked: () => values.length - checked,
    percentChecked: () => percent(checked),
    percentUnchecked: () => percent(values.length - checked),
    sum: () => sum,
    avg: () => mean,
    min: () => numbers[0] ?? null,
    max: () => numbers.at(-1) ?? null,
    range: () => (numbers.at(-1) ?? 0) - (numbers[0] ?? 0),
    median: () =>
      ((numbers[Math.floor((numbers.length - 1) / 2)] ?? 0) +
        (numbers[Math.ceil((numbers.length - 1) / 2)] ?? 0)) /
      2,
    stddev: () =>
      Math.sqrt(numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / numbers.length),
  }
  const compute = table[summary]
  if (!compute) throw new Error(`No reference for the summary ${summary}`)
  return compute()
}
