import type { FilterSet } from '../../fields/field-type.ts'
import { m } from '../../messages.gen.ts'
import { escapeLike, type FilterPrimitives } from '../primitives.ts'
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

/** REST patterns: `%` and `_` are wildcards, backslashes are literal; without `%`, one is added at each end. */
function wirePattern(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\')
  return text.includes('%') ? escaped : `%${escaped}%`
}

/** A case-insensitive text condition; on people fields, compares the ids of the people found. */
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
    build<S>(primitives: FilterPrimitives<S>, column: S, { values, people }: Operand, set: FilterSet): S {
      // Files are compared by name only.
      const textOfValue = (value: S, own: FilterPrimitives<S>) =>
        set === 'attachment' ? own.fileNames(value) : value
      const condition = meets(primitives, column, (value, own) =>
        people
          ? includesPerson(own, value, people)
          : own.like(textOfValue(value, own), pattern(String(values[0] ?? '')), set === 'number'),
      )
      return shape.negated
        ? primitives.or([primitives.isNull(textOfValue(column, primitives)), primitives.not(condition)])
        : condition
    },
  })
}

const includesPerson = <S>(primitives: FilterPrimitives<S>, column: S, ids: string[]): S =>
  ids.length > 0
    ? primitives.or(ids.map((id) => primitives.hasOption(column, id)))
    : primitives.constant(false)

const contained = (text: string): string => `%${escapeLike(text)}%`

/** Contains the literal text; on people, in the e-mail or name. */
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
/** REST's `like` with the wildcards `%` and `_` of SQL. */
export const pattern = textual(wirePattern, { key: 'pattern', offers: {} })
export const npattern = textual(wirePattern, { key: 'npattern', offers: {}, negated: true })
