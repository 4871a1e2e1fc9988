import { compareDecimals, ExactNumber } from '../exact-decimal.ts'
import { readAttachments } from '../fields/attachment-item.ts'
import { titlesIn } from '../fields/choice-titles.ts'
import type { CellValue } from '../fields/field-type.ts'
import type { FilterPrimitives, FilterValue, Sign } from './primitives.ts'

/** An expression over a row in memory: a column returns its cell, a condition true, false or null. */
export type RowExpression<R> = (row: R) => CellValue

const SIGNS: Record<Sign, (order: number) => boolean> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

/** Filter primitives for rows in memory, with SQL's three-valued logic. */
export function memoryPrimitives<R>(): FilterPrimitives<RowExpression<R>> {
  type Expression = RowExpression<R>
  const onValue =
    (column: Expression, test: (cell: string | number | boolean) => boolean): Expression =>
    (row) => {
      const cell = column(row)
      return cell === null ? null : test(cell)
    }
  return {
    isNull: (column) => (row) => column(row) === null,
    eq: (column, value) => onValue(column, (cell) => same(cell, value)),
    compare: (column, sign, value) => onValue(column, (cell) => SIGNS[sign](orderOf(cell, value))),
    inList: (column, values) => onValue(column, (cell) => values.some((value) => same(cell, value))),
    like: (column, pattern) => onValue(column, (cell) => fitsPattern(String(cell), pattern)),
    fileNames: (column) => (row) => {
      const titles = readAttachments(column(row)).map(({ title }) => title)
      return titles.length > 0 ? titles.join('\n') : null
    },
    hasOption: (column, title) => onValue(column, (cell) => titlesIn(String(cell)).includes(title)),
    and: (conditions) => (row) => combine(conditions, row, false),
    or: (conditions) => (row) => combine(conditions, row, true),
    not: (condition) => onValue(condition, (truth) => !truth),
    constant: (value) => () => value,
  }
}

/** Checkboxes are 1 or true, depending on the database driver. */
const plain = (value: CellValue): CellValue => (typeof value === 'boolean' ? Number(value) : value)

const same = (cell: CellValue, value: FilterValue): boolean =>
  value instanceof ExactNumber
    ? compareDecimals(String(cell), value.text) === 0
    : plain(cell) === plain(value)

function orderOf(cell: CellValue, value: FilterValue): number {
  if (value instanceof ExactNumber) return compareDecimals(String(cell), value.text) ?? Number.NaN
  const [left, right] = [plain(cell), plain(value)]
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [a, b] = [String(left), String(right)]
  return a < b ? -1 : Number(a > b)
}

/** One false decides `and`, one true decides `or`; otherwise a null makes the result unknown. */
function combine<R>(conditions: RowExpression<R>[], row: R, decisive: boolean): CellValue {
  let isUnknown = false
  for (const condition of conditions) {
    const truth = condition(row)
    if (truth === decisive) return decisive
    if (truth === null) isUnknown = true
  }
  return isUnknown ? null : !decisive
}

type PatternPart = { kind: 'any' } | { kind: 'one' } | { kind: 'text'; text: string }

function patternParts(pattern: string): PatternPart[] {
  const parts: PatternPart[] = []
  const characters = [...pattern.toLowerCase()]
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%') parts.push({ kind: 'any' })
    else if (character === '_') parts.push({ kind: 'one' })
    else parts.push({ kind: 'text', text: character === '\\' ? (characters[++at] ?? '\\') : character })
  }
  return parts
}

/**
 * Case-insensitive `like`. Backtracks only to the last `%`, which bounds the time to text × pattern; a
 * regular expression would not.
 */
export function fitsPattern(text: string, pattern: string): boolean {
  const characters = [...text.toLowerCase()]
  const parts = patternParts(pattern)
  let [at, part, lastAny, retryAt] = [0, 0, -1, 0]
  while (at < characters.length) {
    const expected = parts[part]
    if (expected?.kind === 'any') {
      lastAny = part++
      retryAt = at
    } else if (expected && (expected.kind === 'one' || expected.text === characters[at])) {
      part++
      at++
    } else if (lastAny >= 0) {
      part = lastAny + 1
      at = ++retryAt
    } else return false
  }
  return parts.slice(part).every((rest) => rest.kind === 'any')
}
