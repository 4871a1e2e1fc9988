import type { FilterSet } from '../../fields/field-type.ts'
import { m } from '../../messages.gen.ts'
import { escapeLike, type FilterWords } from '../dialect-words.ts'
import type { Operand } from './operator.ts'
import { defineOperator, type FilterOperator, meets } from './operator.ts'

const SEARCHABLE: readonly FilterSet[] = [
  'text',
  'number',
  'select',
  'multiSelect',
  'user',
  'attachment',
  'time',
]

/** The wire's patterns: `%` and `_` are wildcards, a backslash is itself; without `%` one stands at each end. */
function wirePattern(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\')
  return text.includes('%') ? escaped : `%${escaped}%`
}

/** A condition on text in any case of its letters; a user field compares who was found by that text. */
function textual(
  pattern: (text: string) => string,
  shape: Pick<FilterOperator, 'key' | 'offers'> & { negated?: true },
): FilterOperator {
  return defineOperator({
    key: shape.key,
    aliases: [],
    offers: shape.offers,
    accepts: SEARCHABLE,
    arity: 'one',
    comparesText: true,
    build<S>(words: FilterWords<S>, column: S, { values, people }: Operand, set: FilterSet): S {
      // Of files the names are looked at, not what else the cell says of them.
      const looked = (value: S, own: FilterWords<S>) => (set === 'attachment' ? own.fileNames(value) : value)
      const condition = meets(words, column, (value, own) =>
        people ? someone(own, value, people) : own.like(looked(value, own), pattern(String(values[0] ?? ''))),
      )
      return shape.negated ? words.or([words.isNull(looked(column, words)), words.not(condition)]) : condition
    },
  })
}

const someone = <S>(words: FilterWords<S>, column: S, ids: string[]): S =>
  ids.length > 0 ? words.or(ids.map((id) => words.hasOption(column, id))) : words.constant(false)

const contained = (text: string): string => `%${escapeLike(text)}%`

/** Contains the text, taken as it stands. On people: whose e-mail or name contains it. */
export const like = textual(contained, {
  key: 'like',
  offers: {
    text: m.filter_contains,
    multiSelect: m.filter_contains,
    attachment: m.filter_file_name_contains,
  },
})
export const nlike = textual(contained, {
  key: 'nlike',
  offers: {
    text: m.filter_does_not_contain,
    multiSelect: m.filter_does_not_contain,
    attachment: m.filter_file_name_does_not_contain,
  },
  negated: true,
})
export const startsWith = textual((text) => `${escapeLike(text)}%`, {
  key: 'startsWith',
  offers: { text: m.filter_starts_with },
})
export const endsWith = textual((text) => `%${escapeLike(text)}`, {
  key: 'endsWith',
  offers: { text: m.filter_ends_with },
})
/** REST's `like` with wildcards: `%` and `_` mean the same as in SQL. */
export const pattern = textual(wirePattern, { key: 'pattern', offers: {} })
export const npattern = textual(wirePattern, { key: 'npattern', offers: {}, negated: true })
