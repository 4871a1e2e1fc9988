import type { AnyFieldType, StorageKind } from './field-type.ts'

/** Words that databases and programs write for a missing value. */
const NULLS = new Set(['null', '(null)', '<null>', '\\n', 'nil', '#n/a', '#na'])
/** Words that people write for a missing value. Beside answers such as yes and no they may be answers themselves. */
const MISSING = new Set(['n/a', 'na', 'n.a.', 'n.a', 'none', 'nan', '-', '--', '---', '–', '—'])

const TAKES_MISSING: ReadonlySet<StorageKind> = new Set(['integer', 'real', 'date', 'datetime', 'time'])

/**
 * True for `n/a`, `NULL` and the like where a file has them among numbers, dates or times, and for `NULL` among
 * answers and JSON: the cell is empty.
 * In a column of text they are text, and stay as they are.
 */
export function isEmptyWord(text: string, { storage }: Pick<AnyFieldType, 'storage'>): boolean {
  if (text.length > 20) return false
  const word = text.trim().toLowerCase()
  if (storage === 'boolean' || storage === 'json') return NULLS.has(word)
  return TAKES_MISSING.has(storage) && (NULLS.has(word) || MISSING.has(word))
}

/** True for a word that is empty in a column of numbers, dates or times. */
export const isMissingWord = (text: string): boolean => isEmptyWord(text, { storage: 'real' })
/** True for a word that is empty in a column of yes and no. */
export const isNullWord = (text: string): boolean => isEmptyWord(text, { storage: 'boolean' })
