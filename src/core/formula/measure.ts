import type { Expression } from './ast.ts'
import { compileFormula } from './compile.ts'
import type { FormulaWords } from './words.ts'

/** How large a piece of SQL is: subqueries within each other, expressions within each other, words in all. */
export interface Size {
  selects: number
  depth: number
  words: number
}

/** MySQL takes 63 queries within each other; some are left to what is around the formula. */
const MAX_SELECTS = 45
/** SQLite takes expressions 1000 deep; some are left to what is around the formula. */
const MAX_DEPTH = 700
const MAX_WORDS = 40_000

/** Error message for a formula whose SQL would have too many words. */
export const TOO_LONG = 'The formula is too long'

/** Error message if a formula’s SQL would be too large for one of the databases, else null. */
export function measureFormula(expression: Expression): string | null {
  const size = sizeOfFormula(expression)
  if (size.selects > MAX_SELECTS || size.depth > MAX_DEPTH) return 'The formula is nested too deeply'
  return size.words > MAX_WORDS ? TOO_LONG : null
}

/** The size of the SQL of a formula, whose fields are columns unless their size is told. */
export function sizeOfFormula(
  expression: Expression,
  sizeOfField: (fieldId: string) => Size = () => LEAF,
): Size {
  return compileFormula(expression, {
    words: MEASURE,
    column: sizeOfField,
    recordId: LEAF,
    createdTime: LEAF,
    modifiedTime: LEAF,
    // Clocks that change twice a year make the longest SQL.
    now: 0,
    zone: 'America/New_York',
  })
}

/**
 * The number of words of a formula's SQL without subqueries: what is computed once elsewhere is repeated.
 *
 * @param wordsOfField those of a field, 1 for a column
 */
export const inlinedWords = (
  expression: Expression,
  zone: string,
  wordsOfField: (fieldId: string) => number,
): number =>
  compileFormula(expression, {
    words: INLINED,
    column: (fieldId) => ({ ...LEAF, words: wordsOfField(fieldId) }),
    recordId: LEAF,
    createdTime: LEAF,
    modifiedTime: LEAF,
    now: 0,
    zone,
  }).words

/** The size of a column. */
export const LEAF: Size = { selects: 0, depth: 1, words: 1 }

/** The size of something that stands around its parts. */
function around(parts: Size[], depth = 2, selects = 0): Size {
  return {
    selects: Math.max(0, ...parts.map((part) => part.selects)) + selects,
    depth: Math.max(0, ...parts.map((part) => part.depth)) + depth,
    words: parts.reduce((sum, part) => sum + part.words, 1),
  }
}

const one = (value: Size): Size => around([value])
const two = (left: Size, right: Size): Size => around([left, right])
const three = (first: Size, second: Size, third: Size): Size => around([first, second, third])
const signed = (_sign: string, left: Size, right: Size): Size => around([left, right])

/** On PostgreSQL the SQL lists all letters that have a case and repeats the text. */
const CASED_WORDS = 200
function cased(text: Size): Size {
  const size = around([text, text, text, text], 8)
  return { ...size, words: size.words + CASED_WORDS }
}

/** Words that count themselves. */
const MEASURE: FormulaWords<Size> = {
  number: () => LEAF,
  constant: () => LEAF,
  text: () => LEAF,
  truth: () => LEAF,
  nothing: () => LEAF,
  cell: (column, _form, name) => around([column], 6, name === null ? 0 : 1),
  finish: (value) => around([value], 6),
  once: (values, _names, use) => {
    const inner = around(
      values.map(({ sql }) => sql),
      3,
      1,
    )
    const body = use(values.map(() => LEAF))
    return {
      // The values stand inside the query, beside the body that names them.
      selects: Math.max(inner.selects, body.selects + 1),
      // SQLite counts both where one select stands within the other.
      depth: inner.depth + body.depth,
      words: inner.words + body.words,
    }
  },
  arithmetic: signed,
  compare: signed,
  compareText: signed,
  divide: two,
  power: two,
  same: two,
  coalesce: two,
  position: two,
  repeat: two,
  addMonths: two,
  negate: one,
  abs: one,
  floor: one,
  ceil: one,
  sqrt: one,
  ln: one,
  exp: one,
  powerOfTen: one,
  isNull: one,
  not: one,
  truthNumber: one,
  length: one,
  trim: one,
  trimZeros: one,
  digits: one,
  readNumber: one,
  part: three,
  replace: three,
  readDate: (text) => ({ ...around([text, text, text], 12, 3), words: 3 * text.words + 100 }),
  among: (what, values) => {
    const size = around(
      values.map(({ sql }) => sql),
      what === 'median' ? 8 : 4,
      what === 'median' ? 3 : 1,
    )
    return what === 'median' ? { ...size, words: 4 * size.words + 20 } : size
  },
  // 71 calls within each other, for which the stack of MariaDB has room twice in a formula.
  encodeUrl: (text) => ({ ...around([text], 300), words: text.words + 150 }),
  and: (conditions) => around(conditions, conditions.length),
  or: (conditions) => around(conditions, conditions.length),
  choose: (cases, otherwise) => around([...cases.flat(), otherwise]),
  concat: (texts) => around(texts, texts.length),
  upper: cased,
  lower: cased,
  datePart: (_part, ms) => around([ms], 4),
  dateText: (ms) => around([ms], 4),
  cellList: (column, _form, values, name) => {
    const list = around([column], 6, name === null ? 1 : 2)
    return typeof values === 'function' ? around([list, values(LEAF)], 6, 1) : list
  },
  listOf: one,
  split: two,
  joinList: (list, separator) => around([list, separator, separator], 5, 1),
  elementCount: one,
  concatLists: (lists) => ({
    ...around(lists, 4 + lists.length, 1),
    words: 2 * lists.reduce((sum, { words }) => sum + words, 4),
  }),
  uniqueElements: (list) => around([list, list], 6, 2),
  filledElements: (list) => around([list], 5, 1),
  sortedElements: (list) => around([list], 5, 1),
  // MariaDB runs out of memory from 20 of them within each other.
  elementsBetween: (list, from, to) => around([list, from, to], 30, 1),
  numbersOf: (list, numberOf) => around([list, numberOf(LEAF)], 6, 2),
  countWhere: (numbers, holds) => around([numbers, holds(LEAF, LEAF)], 6, 2),
  jsonAt: (text, path) => ({
    ...around([text], 12 + path.length),
    words: (text.words + 20) * (path.length + 4),
  }),
  regexEnd: '$',
  regexMatch: (text) => around([text, text, text], 4),
  regexExtract: (text) => around([text, text, text, text], 5),
  regexReplace: (text, _pattern, by) => around([text, text, text, text, by], 6),
}

const repeated = (value: Size, times: number): Size => around(Array.from({ length: times }, () => value))

/** How often the SQL of a stored number, and that of another cell, names its column. */
const [NUMBER_TIMES, CELL_TIMES] = [6, 3]

/** Words that count themselves where nothing is computed in a subquery. */
const INLINED: FormulaWords<Size> = {
  ...MEASURE,
  once: (values, _names, use) => use(values.map(({ sql }) => sql)),
  limited: (value) => repeated(value, 2),
  cell: (column, form, name) => {
    const isNumber = form === 'integer' || form === 'real'
    if (name !== null) return repeated(column, isNumber ? 2 : CELL_TIMES)
    return repeated(column, isNumber ? NUMBER_TIMES : CELL_TIMES)
  },
  among: (_what, values) => around(values.flatMap(({ sql }) => values.map(() => sql))),
  dateText: (ms) => repeated(ms, 6),
}
