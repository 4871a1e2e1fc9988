import { MAX_SHEET_COLUMNS } from './workbook.ts'

/** What the last call of `readPlainCell` has found. */
export interface PlainCell {
  /** From 0; -1 if the cell does not say it. */
  column: number
  /** Position of its style; -1 for none. */
  style: number
  /** As in `ST_CellType` (ECMA-376, 18.18.11); '' for none. */
  type: string
  /** As it is written, with references; null for an empty cell. */
  text: string | null
}

export const createPlainCell = (): PlainCell => ({ column: -1, style: -1, type: '', text: null })

const [SPACE, DOUBLE, SLASH, ZERO, NINE, LESS, EQUALS, GREATER, A, Z] = [
  32, 34, 47, 48, 57, 60, 61, 62, 65, 90,
]
const [LOWER_C, LOWER_I, LOWER_R, LOWER_S, LOWER_T, LOWER_V] = [99, 105, 114, 115, 116, 118]

/** Types by their first letter. */
const TYPES = ['s', 'n', 'b', 'e', 'str', 'inlineStr'].map((type) => ({ type, written: `${type}"` }))
/** What is around texts. */
const VALUE = { before: '<v>', after: '</v></c>' }
const INLINE = { before: '<is><t', after: '</t></is></c>' }
const PRESERVED = ' xml:space="preserve"'
/** Digits of a number without a risk of an overflow. */
const MAX_DIGITS = 8

/**
 * Reads a cell in the form in which nearly all programs write nearly all cells: `<c r="B2" s="1" t="s"><v>5</v></c>`, an inline text, or an
 * empty cell. A sheet has millions of them, for which an XML scanner takes several times as long.
 * @param from position of its `<`
 * @returns the position behind the cell; -1 if it has another form or does not end within `source`
 */
export function readPlainCell(source: string, from: number, cell: PlainCell): number {
  if (source.charCodeAt(from + 1) !== LOWER_C) return -1
  cell.column = -1
  cell.style = -1
  cell.type = ''
  cell.text = null
  let at = from + 2
  while (source.charCodeAt(at) === SPACE) {
    const name = source.charCodeAt(at + 1)
    if (source.charCodeAt(at + 2) !== EQUALS || source.charCodeAt(at + 3) !== DOUBLE) return -1
    at += 4
    if (name === LOWER_R) at = readReference(source, at, cell)
    else if (name === LOWER_S) at = readStyle(source, at, cell)
    else if (name === LOWER_T) at = readType(source, at, cell)
    else return -1
    if (at < 0) return -1
  }
  if (source.charCodeAt(at) === SLASH) return source.charCodeAt(at + 1) === GREATER ? at + 2 : -1
  if (source.charCodeAt(at) !== GREATER || source.charCodeAt(at + 1) !== LESS) return -1
  return readText(source, at + 1, cell)
}

/** Reads the value of `r`, and gives the position behind its quote, or -1. */
function readReference(source: string, from: number, cell: PlainCell): number {
  let at = from
  let column = 0
  for (let code = source.charCodeAt(at); code >= A && code <= Z; code = source.charCodeAt(++at)) {
    column = column * 26 + code - A + 1
    if (column > MAX_SHEET_COLUMNS) return -1
  }
  if (column === 0) return -1
  cell.column = column - 1
  while (isDigit(source.charCodeAt(at))) at++
  return source.charCodeAt(at) === DOUBLE ? at + 1 : -1
}

function readStyle(source: string, from: number, cell: PlainCell): number {
  let at = from
  let style = 0
  for (let code = source.charCodeAt(at); isDigit(code); code = source.charCodeAt(++at))
    style = style * 10 + code - ZERO
  cell.style = style
  const hasDigits = at > from && at - from <= MAX_DIGITS
  return hasDigits && source.charCodeAt(at) === DOUBLE ? at + 1 : -1
}

function readType(source: string, from: number, cell: PlainCell): number {
  for (const { type, written } of TYPES) {
    if (!source.startsWith(written, from)) continue
    cell.type = type
    return from + written.length
  }
  return -1
}

function readText(source: string, from: number, cell: PlainCell): number {
  let start = from
  let after = VALUE.after
  if (source.charCodeAt(from + 1) === LOWER_V) {
    if (source.charCodeAt(from + 2) !== GREATER) return -1
    start += VALUE.before.length
  } else if (source.charCodeAt(from + 1) === LOWER_I && source.startsWith(INLINE.before, from)) {
    start += INLINE.before.length
    if (source.startsWith(PRESERVED, start)) start += PRESERVED.length
    if (source.charCodeAt(start++) !== GREATER) return -1
    after = INLINE.after
  } else return -1
  const end = source.indexOf('<', start)
  if (end < 0 || !source.startsWith(after, end)) return -1
  cell.text = source.slice(start, end)
  return end + after.length
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE
