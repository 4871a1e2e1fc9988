import type { ExactNumber } from '../exact-decimal.ts'
import type { CellValue } from '../fields/field-type.ts'

/** The right side of a comparison: a cell value, or a number that JavaScript would round. */
export type FilterValue = CellValue | ExactNumber

export type Sign = '<' | '<=' | '>' | '>='

/**
 * Primitives from which all filters are built. Each database dialect implements them in SQL, and
 * `memory-primitives.ts` for rows in memory, so that an operator has the same semantics everywhere.
 *
 * `S` is an expression: a column or a condition. Conditions use SQL's three-valued logic: on NULL, all but
 * `isNull` are NULL, `not` keeps NULL, and only true matches.
 *
 * Values are non-null `CellValue`s: numbers, booleans and text as they are, dates as `YYYY-MM-DD`, instants
 * as `YYYY-MM-DD HH:MM:SS+00:00`.
 */
export interface FilterPrimitives<S> {
  isNull(column: S): S
  /** Equality, case-sensitive. */
  eq(column: S, value: FilterValue): S
  /** Comparison as numbers, times or text. */
  compare(column: S, sign: Sign, value: FilterValue): S
  /** Equal to one of the values; `values` is not empty. */
  inList(column: S, values: FilterValue[]): S
  /**
   * Case-insensitive match of the column's text with a pattern: `%` matches any characters, `_` one
   * character, and `\` escapes the next.
   *
   * @param isNumber true if the column may be of a number type, whose text is that of JavaScript
   */
  like(column: S, pattern: string, isNumber: boolean): S
  /** Names of the files in an attachment column, one per line; NULL without files. */
  fileNames(column: S): S
  /**
   * Lists only: true if one value meets the whole test, which receives the value and its primitives.
   * Operators use it through `meets`.
   */
  some?(list: S, test: (value: S, primitives: FilterPrimitives<S>) => S): S
  /** Links only: the record has no linked record. Records with an empty display field count as linked. */
  isUnlinked?(link: S): S
  /** The comma-separated list in the column has this title, case-sensitive. */
  hasOption(column: S, title: string): S
  and(conditions: S[]): S
  or(conditions: S[]): S
  not(condition: S): S
  /** A condition that is always true or always false. */
  constant(value: boolean): S
}

/** Escapes text for a `like` pattern: `50%` becomes `50\%`. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/**
 * Condition that a list has a value that meets the test; with a null test, any value. Ignores NULL and empty
 * text in lists. Never NULL itself.
 */
export type AnyOf<S> = (test: ((value: S) => S) | null) => S

/**
 * Primitives for a field whose cells are lists, such as a lookup over several records: a comparison holds if
 * any value of the list meets it, and an empty list is NULL. "Contains" finds a record by each of its values,
 * "is not equal to" one without such a value, and "has all of" one with every value.
 *
 * @param any builds the condition on the list; the primitives' column arguments are ignored
 */
export function listPrimitives<S>(primitives: FilterPrimitives<S>, any: AnyOf<S>): FilterPrimitives<S> {
  return {
    ...primitives,
    some: (_list, test) => any((value) => test(value, primitives)),
    isNull: () => primitives.not(any(null)),
    eq: (_list, expected) => any((value) => primitives.eq(value, expected)),
    compare: (_list, sign, expected) => any((value) => primitives.compare(value, sign, expected)),
    inList: (_list, expected) => any((value) => primitives.inList(value, expected)),
    like: (_list, pattern, isNumber) => any((value) => primitives.like(value, pattern, isNumber)),
    // Outside of `some`, only tested for NULL.
    fileNames: (list) => list,
    hasOption: (_list, title) => any((value) => primitives.hasOption(value, title)),
  }
}
