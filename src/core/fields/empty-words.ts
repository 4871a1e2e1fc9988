import type { AnyFieldType, StorageKind } from './field-type.ts'

/** Words that software writes for a missing value. */
const NULLS = new Set(['null', '(null)', '<null>', '\\n', 'nil', '#n/a', '#na'])
/** Words that people write for a missing value. In a yes/no column they may be real answers. */
const MISSING = new Set(['n/a', 'na', 'n.a.', 'n.a', 'none', 'nan', '-', '--', '---', '–', '—'])

const TAKES_MISSING: ReadonlySet<StorageKind> = new Set(['integer', 'real', 'date', 'datetime', 'time'])

/**
 * True for words that mean an empty cell: `n/a`, `NULL` and the like in number, date and time columns, only `NULL`
 * and the like in checkbox and JSON columns. Text columns keep them as text.
 */
export function isEmptyWord(text: string, { storage }: Pick<AnyFieldType, 'storage'>): boolean {
  if (text.length > 20) return false
  const word = text.trim().toLowerCase()
  if (storage === 'boolean' || storage === 'json') return NULLS.has(word)
  return TAKES_MISSING.has(storage) && (NULLS.has(word) || MISSING.has(word))
}

/** True for a word that means empty in a number, date or time column. */
export const isMissingWord = (text: string): boolean => isEmptyWord(text, { storage: 'real' })
/** True for a word that means empty in a checkbox column. */
export const isNullWord = (text: string): boolean => isEmptyWord(text, { storage: 'boolean' })
