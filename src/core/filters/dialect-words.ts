import type { ExactNumber } from '../exact-decimal.ts'
import type { CellValue } from '../fields/field-type.ts'

/** What a column is compared with: a cell's value, or a number that JavaScript would round. */
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
  /** The names of the files that an attachment column holds, one on each line; NULL for none. */
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
  /** A condition that every row meets, or none. */
  constant(value: boolean): S
}

/** Text as a pattern for `like` that means only itself: `50%` becomes `50\%`. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
