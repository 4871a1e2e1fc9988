import type { FilterSet } from '../../fields/field-type.ts'
import { checked, notchecked } from './checked.ts'
import { defineOperator, EVERY_SET, type FilterOperator } from './operator.ts'
import { blank, empty, isNull, notblank, notEmpty, notNull } from './presence.ts'

/** The words that `is` and `isnot` compare with, and the operator that each stands for (wire reference §14.5). */
const IS: ReadonlyMap<string, [is: FilterOperator, isnot: FilterOperator]> = new Map([
  ['null', [isNull, notNull]],
  ['notnull', [notNull, isNull]],
  ['empty', [empty, notEmpty]],
  ['notempty', [notEmpty, empty]],
  ['blank', [blank, notblank]],
  ['notblank', [notblank, blank]],
  ['true', [checked, notchecked]],
  ['false', [notchecked, checked]],
])

/** True for a word that `is` takes on a field of that set. */
export function isWordOf(word: string, set: FilterSet): boolean {
  return IS.get(word)?.[0].accepts.includes(set) ?? false
}

const byWord = (key: 'is' | 'isnot') =>
  defineOperator({
    key,
    aliases: [],
    offers: {},
    accepts: [...EVERY_SET, 'links'],
    arity: 'word',
    build(words, column, operand, set) {
      const pair = IS.get(String(operand.values[0]))
      const operator = key === 'is' ? pair?.[0] : pair?.[1]
      return operator ? operator.build(words, column, operand, set) : words.constant(false)
    },
  })

/** Has the state that the value names, e.g. `null` or `true`. */
export const is = byWord('is')
/** Has not the state that the value names. */
export const isnot = byWord('isnot')
