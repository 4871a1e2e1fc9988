import type { ExactNumber } from '../exact-decimal.ts'
import type { CellValue } from '../fields/field-type.ts'

/** The right side of a comparison: a cell value, or a number that JavaScript would round. */
export type FilterValue = CellValue | ExactNumber

/** Signs of order. */
export type Sign = '<' | '<=' | '>' | '>='

/**
 * The few words from which every filter is built. Each database dialect supplies them for its SQL, and
 * `memory-words.ts` for rows in memory, so that an operator is written once and means the same everywhere.
 *
 * `S` is an expression: a column, or a condition. Conditions follow SQL's three values: on a column
 * that is NULL all but `isNull` are NULL, `not` keeps NULL, and only what is true matches.
 *
 * Values are those of `CellValue`, never null: a number or boolean as itself, a date as
 * `YYYY-MM-DD`, an instant as `YYYY-MM-DD HH:MM:SS+00:00`.
 */
export interface FilterWords<S> {
  isNull(column: S): S
  /** Equal, telling upper from lower case. */
  eq(column: S, value: FilterValue): S
  /** In order of number, time or text. */
  compare(column: S, sign: Sign, value: FilterValue): S
  /** Equal to one of the values, of which there is at least one. */
  inList(column: S, values: FilterValue[]): S
  /**
   * The column's text (numbers as they print) fits the pattern in any case of its letters: `%` stands
   * for any run of characters, `_` for any one, and `\` takes the meaning from the next.
   */
  like(column: S, pattern: string): S
  /** Names of the files in an attachment column, one per line; NULL for none. */
  fileNames(column: S): S
  /**
   * Only in the words for a list: one value of it meets the whole test, which is given that value and the
   * words for it. Operators ask by `meets`.
   */
  some?(list: S, test: (value: S, words: FilterWords<S>) => S): S
  /**
   * Only in the words for a link: the record has no linked record. What the linked records are named does not
   * matter: one whose display field is empty is still linked.
   */
  isUnlinked?(link: S): S
  /** The comma list in the column holds exactly this title, telling upper from lower case. */
  hasOption(column: S, title: string): S
  /** All of them; at least one is given. */
  and(conditions: S[]): S
  /** Any of them; at least one is given. */
  or(conditions: S[]): S
  not(condition: S): S
  /** A condition that is always true or always false. */
  constant(value: boolean): S
}

/** Text as a pattern for `like` that means only itself: `50%` becomes `50\%`. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/**
 * True where the list has a value that meets the test; where there is none, any value will do. Values
 * that are NULL or an empty text are not in a list. Never NULL itself.
 */
export type AnyOf<S> = (test: ((value: S) => S) | null) => S

/**
 * The words for a field whose cell is a list, such as a lookup through a link to many: a comparison
 * holds where any value of the list meets it, and a list without values is NULL. So "contains" finds a
 * record by each of its values, "is not equal to" one that has no such value, and "has all of" one with
 * every value.
 *
 * @param any what there is to say of the list of one field; the column that the words are given is left aside
 */
export function listWords<S>(words: FilterWords<S>, any: AnyOf<S>): FilterWords<S> {
  return {
    ...words,
    some: (_list, test) => any((value) => test(value, words)),
    isNull: () => words.not(any(null)),
    eq: (_list, expected) => any((value) => words.eq(value, expected)),
    compare: (_list, sign, expected) => any((value) => words.compare(value, sign, expected)),
    inList: (_list, expected) => any((value) => words.inList(value, expected)),
    like: (_list, pattern) => any((value) => words.like(value, pattern)),
    // Asked outside of `some` only whether there are any.
    fileNames: (list) => list,
    hasOption: (_list, title) => any((value) => words.hasOption(value, title)),
  }
}
