import type { FilterSet } from '../../fields/field-type.ts'
import type { LocalizedText } from '../../message.ts'
import type { FilterValue, FilterWords } from '../dialect-words.ts'

/**
 * How many values an operator takes. A `word` is one of a fixed list; a `date` is a date operand with
 * what it needs, and that is also what `one` means on fields of dates: see `arityFor`.
 */
export type Arity = 'none' | 'one' | 'two' | 'many' | 'word' | 'date'

/** The right side of a comparison, ready for a dialect. */
export interface Operand {
  /** In the form in which the column stores them. */
  values: FilterValue[]
  /** From a moment up to, not including, another, in the stored form; only on dates. */
  range: { from: string; to: string } | null
  /** Ids of the people whom the text matches; only for "contains" and similar operators on people. */
  people: string[] | null
}

/** One way of comparing: a file of this folder (or a line in a family's file) and a line in `index.ts`. */
export interface FilterOperator {
  /** The name that is stored. */
  key: string
  /** Other names for it on the wire. */
  aliases: readonly string[]
  /** The sets whose menus offer it, each with its label. */
  offers: Partial<Record<FilterSet, LocalizedText>>
  /** The sets that accept it from programs. */
  accepts: readonly FilterSet[]
  arity: Arity
  /** True where an empty text is a value to compare with and not the lack of one. */
  takesEmptyText?: true
  /** True where the text of a value is looked at, so that any text may be looked for. */
  comparesText?: true
  /** Builds the condition with a dialect's vocabulary. `set` is the filter set of the field. */
  build<S>(words: FilterWords<S>, column: S, operand: Operand, set: FilterSet): S
}

/**
 * A test of several parts on a column's value; of a list, one of its values has to meet all of them: two days may
 * lie around a week and neither in it.
 */
export const meets = <S>(words: FilterWords<S>, column: S, test: (value: S, words: FilterWords<S>) => S): S =>
  words.some?.(column, test) ?? test(column, words)

/** From a moment up to, not including, another. */
export const inRange = <S>(
  words: FilterWords<S>,
  column: S,
  { from, to }: NonNullable<Operand['range']>,
): S =>
  meets(words, column, (value, { and, compare }) =>
    and([compare(value, '>=', from), compare(value, '<', to)]),
  )

/** Sets whose values are text, so that "empty" is a value of its own beside NULL. */
export const TEXT_LIKE: readonly FilterSet[] = ['text', 'select', 'multiSelect', 'user']
export const EVERY_SET: readonly FilterSet[] = [...TEXT_LIKE, 'number', 'checkbox', 'date', 'time']

/** A label that is the same in all languages. */
export const sign =
  (text: '=' | '≠' | '<' | '>' | '≤' | '≥'): LocalizedText =>
  () =>
    text

/** Keeps the shape in one place while an operator is being written. */
export const defineOperator = (operator: FilterOperator): FilterOperator => operator

/** How many values the operator takes on a field of this set. */
export const arityFor = (operator: FilterOperator, set: FilterSet): Arity =>
  set === 'date' && operator.arity === 'one' ? 'date' : operator.arity
