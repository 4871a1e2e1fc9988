import type { CellForm, ValueType } from './ast.ts'
import type { DateFormat } from './date-format.ts'
import type { JsonPath } from './json-path.ts'

/** A value that the SQL uses several times; `once` computes it once. */
export interface Bound<S> {
  sql: S
  type: ValueType
}

/** Comparison operators; their result is true, false or null. */
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * The SQL vocabulary of compiled formulas, which each database dialect implements. `semantics.ts` defines what the
 * words mean. No word may raise an error, whatever the values of its arguments.
 *
 * `S` is an SQL expression: a number is a double, a boolean is the engine's own, text compares by its bytes, a day and
 * an instant are milliseconds since 1970 (a day: of its midnight in UTC). A list has texts as elements; an empty one is
 * null. Unless stated otherwise, null arguments give null.
 */
/**
 * How the values of a list become texts: as they are, as numbers, so that decimals of a connected database lose the zeros at
 * their end, or as instants by a function of their milliseconds.
 */
export type ListedValues<S> = 'text' | 'number' | ((instant: S) => S)

export interface FormulaWords<S> {
  /** A number from the formula: bound, but in the vocabulary of indexes. */
  number(value: number): S
  /** A number that a function’s SQL needs, as part of the statement, not bound. */
  constant(value: number): S
  /** A text from the formula, likewise. */
  text(value: string): S
  /** Not a literal: a list of sort terms takes `0` for the place of a column, or refuses `false`. */
  truth(value: boolean): S
  /** NULL of that type. */
  nothing(type: ValueType): S
  /**
   * A field's column as a value. For an expression that computes the field, `name` is an unused alias with which the
   * SQL can compute it once.
   */
  cell(column: S, form: CellForm, name: string | null): S
  /** A value as a column of that type stores it. */
  finish(value: S, type: ValueType): S
  /** Computes the values once, however often `use` repeats them. `names` are unused aliases, one per value. */
  once(values: Bound<S>[], names: string[], use: (values: S[]) => S): S

  /** The number; null where its magnitude is `most` or more, 0 where it is below `least`. Absent: made of other words. */
  limited?(value: S, most: number, least: number): S

  arithmetic(sign: '+' | '-' | '*', left: S, right: S): S
  /** Null where the divisor is 0. */
  divide(left: S, right: S): S
  negate(value: S): S
  abs(value: S): S
  floor(value: S): S
  ceil(value: S): S
  /** Of numbers not below 0. */
  sqrt(value: S): S
  /** Of numbers above 0. */
  ln(value: S): S
  /** Of numbers between -100 and 100. */
  exp(value: S): S
  /** Where the result is known to be a number between 1e-100 and 1e100. */
  power(base: S, exponent: S): S
  /** 10 to the power of a whole number from 0 to 20, as exact as a double can be. */
  powerOfTen(exponent: S): S
  /**
   * The least or greatest that is not null; how many are not null; the median `low + (high - low) * 0.5` of the two
   * in the middle. For a median the values must cost nothing to be named often.
   */
  among(what: 'min' | 'max' | 'count' | 'median', values: Bound<S>[]): S

  compare(sign: Comparison, left: S, right: S): S
  compareText(sign: Comparison, left: S, right: S): S
  /** Both equal or both null, for numbers; never null itself. */
  same(left: S, right: S): S
  isNull(value: S): S
  /** The second where the first is null. */
  coalesce(value: S, otherwise: S): S
  and(conditions: S[]): S
  or(conditions: S[]): S
  not(condition: S): S
  /** The value of the first condition that is true. */
  choose(cases: [condition: S, value: S][], otherwise: S): S
  /** A truth as 1 or 0. */
  truthNumber(value: S): S

  /** Null where any is null. */
  concat(texts: S[]): S
  /** In characters. */
  length(text: S): S
  /** `count` characters from the one at `from`, counted from 1: whole numbers, `from` at least 1, `count` at least 0. */
  part(text: S, from: S, count: S): S
  /** Place of the first occurrence, counted from 1; 0 where there is none. */
  position(text: S, find: S): S
  replace(text: S, find: S, by: S): S
  /** Of text that is not empty, a whole number of times, at least 0. */
  repeat(text: S, times: S): S
  /** Removes spaces at both ends. */
  trim(text: S): S
  /** Takes zeros off one end. */
  trimZeros(text: S, end: 'start' | 'end'): S
  /** In capitals or small letters: those of `letters.ts`, a final Σ included. */
  upper(text: S): S
  lower(text: S): S
  /** `encodeUrl`. */
  encodeUrl(text: S): S
  /** A whole number below 2 ** 53 in digits. */
  digits(value: S): S
  /** Reads text as `semantics.ts` says; null where it is no number. */
  readNumber(text: S): S
  /** The wall time that the text shows in the format, as `parseDate` reads it; null where it does not fit. */
  readDate(text: S, format: DateFormat): S

  /** The day's year, month or day of month. */
  datePart(part: 'year' | 'month' | 'day', ms: S): S
  /** `2024-03-05`, with time `2024-03-05 08:20:30`. */
  dateText(ms: S, withTime: boolean): S
  /** The same day a whole number of months on, the last of the month where it has no such day; within years 1 to 9999. */
  addMonths(ms: S, months: S): S

  /** The values of a field's column with several, but those that are null; `name` as for `cell`. */
  cellList(column: S, form: 'list' | 'linkTitles', values: ListedValues<S>, name: string | null): S
  /** A list of the one text. */
  listOf(text: S): S
  /** The parts of a text between the separators, which are not empty. */
  split(text: S, separator: S): S
  /** The elements, with the separator between them. */
  joinList(list: S, separator: S): S
  elementCount(list: S): S
  /** The lists one behind the other; those that are null are passed over. */
  concatLists(lists: S[]): S
  /** Each element once, at its first place. */
  uniqueElements(list: S): S
  /** The elements that are not the empty text. */
  filledElements(list: S): S
  /** The elements by their bytes, numbers by their value first. */
  sortedElements(list: S, isNumeric: boolean, isDescending: boolean): S
  /** The elements from one place to another, both included: whole numbers, counted from 1, which may lie outside. */
  elementsBetween(list: S, from: S, to: S): S

  /** The different numbers that `numberOf` makes of the elements, ascending, as a list; elements of which it makes none are left out. */
  numbersOf(list: S, numberOf: (element: S) => S): S
  /** The number of elements for which the condition holds; 0 for null. The elements are numbers, their places count from 1. */
  countWhere(numbers: S, holds: (element: S, place: S) => S): S

  /** `jsonAt`, for text that is valid JSON. */
  jsonAt(text: S, path: JsonPath): S

  /** How the engine's patterns write the end of the text. */
  readonly regexEnd: string
  regexMatch(text: S, pattern: string): S
  /** The first match; null where there is none. */
  regexExtract(text: S, pattern: string): S
  /** All matches replaced by the text as it stands. */
  regexReplace(text: S, pattern: string, by: S): S
}
