import { type SQL, sql } from 'drizzle-orm'
import type { CellForm } from '../core/formula/ast.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import { quoteText } from './standard-sql.ts'

/** A formula has a word that no index can hold. */
export class NotIndexedError extends Error {
  override name = 'NotIndexedError'
}

const refuse = (): never => {
  throw new NotIndexedError('No index can hold this formula')
}

/**
 * A vocabulary for formulas in indexes: expressions without subqueries and bound values. All words that are neither
 * `kept` nor `own` throw NotIndexedError.
 */
export function indexedWords(
  words: FormulaWords<SQL>,
  kept: readonly (keyof FormulaWords<SQL>)[],
  own: Partial<FormulaWords<SQL>>,
): FormulaWords<SQL> {
  const refused = Object.fromEntries(Object.keys(words).map((name) => [name, refuse]))
  const same = Object.fromEntries(kept.map((name) => [name, words[name]]))
  return {
    ...refused,
    ...same,
    once: (values, _names, use) => use(values.map((value) => sql`(${value.sql})`)),
    ...own,
  } as FormulaWords<SQL>
}

/** A text from a formula as a literal. @throws NotIndexedError for one that engines read differently */
export function literalText(text: string): SQL {
  return /\0/.test(text) ? refuse() : sql.raw(quoteText(text))
}

/** @throws NotIndexedError for a cell with several values, which are joined in a subquery */
export function refuseList(form: CellForm): void {
  if (form === 'list' || form === 'linkTitles' || form === 'linkCount') refuse()
}

/** The words whose SQL is one expression over their arguments in every engine. */
export const PLAIN_WORDS = [
  'constant',
  'truth',
  'nothing',
  'finish',
  'divide',
  'powerOfTen',
  'compareText',
  'same',
  'truthNumber',
  'concat',
  'length',
  'part',
  'position',
  'replace',
  'repeat',
  'trim',
  'trimZeros',
  'digits',
  'datePart',
  'addMonths',
  'arithmetic',
  'negate',
  'abs',
  'sqrt',
  'floor',
  'ceil',
  'compare',
  'isNull',
  'coalesce',
  'and',
  'or',
  'not',
  'choose',
  'regexEnd',
] as const satisfies readonly (keyof FormulaWords<SQL>)[]
