import type { AnyFieldType, StorageKind } from './field-type.ts'

/** Words that software writes for a missing value. */
const NULLS = new Set(['null', '(null)', '<null>', '\\n', 'nil', '#n/a', '#na'])
/** Errors of spreadsheets' formulas, whose cells have no value. */
const ERRORS = ['#div/0!', '#value!', '#ref!', '#name?', '#num!', '#null!']
const FORMULA_ERRORS = new Set([...ERRORS, '#n/a'])
/** Days of databases and of Outlook that stand for a missing one. */
const NO_DAYS = new Set(['0000-00-00', '0000-00-00 00:00:00', '00.00.0000', '00/00/0000', '0/0/00'])
/** Words that people write for a missing value. In a yes/no column they may be real answers. */
const MISSING = new Set([
  ...ERRORS,
  'k.a.',
  'k. a.',
  'n/d',
  'n.d.',
  's/d',
  'n/a',
  'na',
  'n.a.',
  'n.a',
  'none',
  'nan',
  '-',
  '--',
  '---',
  '–',
  '—',
])

const TAKES_MISSING: ReadonlySet<StorageKind> = new Set(['integer', 'real', 'date', 'datetime', 'time'])

/**
 * True for words that mean an empty cell: `n/a`, `NULL` and the like in number, date and time columns, only `NULL`
 * and the like in checkbox and JSON columns. Text columns keep them as text.
 */
export function isEmptyWord(text: string, { storage }: Pick<AnyFieldType, 'storage'>): boolean {
  if (text.length > 20) return false
  const word = text.trim().toLowerCase()
  if (storage === 'boolean' || storage === 'json') return NULLS.has(word)
  if ((storage === 'date' || storage === 'datetime') && NO_DAYS.has(word)) return true
  return TAKES_MISSING.has(storage) && (NULLS.has(word) || MISSING.has(word))
}

/** True for an error of a spreadsheet's formula: its cell has no value, but is not one that a person has left empty. */
export const isFormulaError = (text: string): boolean => FORMULA_ERRORS.has(text.trim().toLowerCase())

/** True for a word that means empty in a number, date or time column. */
export const isMissingWord = (text: string): boolean => isEmptyWord(text, { storage: 'real' })
/** True for a word that means empty in a date column. */
export const isMissingDay = (text: string): boolean => isEmptyWord(text, { storage: 'date' })
/** True for a word that means empty in a checkbox column. */
export const isNullWord = (text: string): boolean => isEmptyWord(text, { storage: 'boolean' })
