import type { FilterSet } from '../../fields/field-type.ts'
import type { LocalizedText } from '../../message.ts'
import type { FilterPrimitives, FilterValue } from '../primitives.ts'

/**
 * Number of values of an operator. `word` is one of a fixed list; `date` is a date operand with its value,
 * which `one` also means on date fields: see `arityFor`.
 */
export type Arity = 'none' | 'one' | 'two' | 'many' | 'word' | 'date'

/** The right side of a comparison, ready for a dialect. */
export interface Operand {
  /** In the column's stored form. */
  values: FilterValue[]
  /** Range in the stored form; dates only. Ends before `to`, or with it if `end` is `<=`. */
  range: { from: string; to: string; end: '<' | '<=' } | null
  /** Ids of the people whom the text matches; only for "contains" and similar operators on people. */
  people: string[] | null
}

/** A filter operator, registered in `index.ts`. */
export interface FilterOperator {
  /** Stored name. */
  key: string
  /** Other names in REST. */
  aliases: readonly string[]
  /** Filter sets whose menus offer it, with labels. */
  offers: Partial<Record<FilterSet, LocalizedText>>
  /** Filter sets that accept it from API clients. */
  accepts: readonly FilterSet[]
  arity: Arity
  /** True if '' is a value to compare with, not a missing value. */
  takesEmptyText?: true
  /** True if it compares the text of values, so that any text is a valid operand. */
  comparesText?: true
  /** Builds the condition with a dialect's primitives. `set` is the field's filter set. */
  build<S>(primitives: FilterPrimitives<S>, column: S, operand: Operand, set: FilterSet): S
}

/**
 * Applies a compound test to a column. In a list, a single value must meet the whole test: one date before a
 * week and one after it do not make a date within it.
 */
export const meets = <S>(
  primitives: FilterPrimitives<S>,
  column: S,
  test: (value: S, primitives: FilterPrimitives<S>) => S,
): S => primitives.some?.(column, test) ?? test(column, primitives)

/** Within a range of days. */
export const inRange = <S>(
  primitives: FilterPrimitives<S>,
  column: S,
  { from, to, end }: NonNullable<Operand['range']>,
): S =>
  meets(primitives, column, (value, { and, compare }) =>
    and([compare(value, '>=', from), compare(value, end, to)]),
  )

/** Filter sets with text values, in which '' differs from NULL. */
export const TEXT_LIKE: readonly FilterSet[] = ['text', 'select', 'multiSelect', 'user']
export const EVERY_SET: readonly FilterSet[] = [...TEXT_LIKE, 'number', 'checkbox', 'date', 'time']

/** A language-independent label. */
export const sign =
  (text: '=' | '≠' | '<' | '>' | '≤' | '≥'): LocalizedText =>
  () =>
    text

/** Types an operator definition. */
export const defineOperator = (operator: FilterOperator): FilterOperator => operator

/** The operator's arity on fields of this set. */
export const arityFor = (operator: FilterOperator, set: FilterSet): Arity =>
  set === 'date' && operator.arity === 'one' ? 'date' : operator.arity
