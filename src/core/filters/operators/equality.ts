import type { FilterSet } from '../../fields/field-type.ts'
import type { FilterWords } from '../dialect-words.ts'
import type { Operand } from './operator.ts'
import { defineOperator, EVERY_SET, inRange } from './operator.ts'

/** Equal; a date field's instant is equal to a day when it lies in it. */
function equal<S>(words: FilterWords<S>, column: S, { values, range }: Operand): S {
  if (range) return inRange(words, column, range)
  return words.eq(column, values[0] ?? '')
}

/** Equal to the value, telling upper from lower case; on dates, within that day. */
export const eq = defineOperator({
  key: 'eq',
  aliases: [],
  offers: { text: 'is equal to', number: '=', time: '=', links: '=', select: 'is', user: 'is', date: 'is' },
  accepts: [...EVERY_SET, 'links'],
  arity: 'one',
  takesEmptyText: true,
  build: equal,
})

/** Not equal; a record without a value is not equal to any. */
export const neq = defineOperator({
  key: 'neq',
  aliases: ['not'],
  offers: {
    text: 'is not equal to',
    number: '≠',
    time: '≠',
    links: '≠',
    select: 'is not',
    user: 'is not',
    date: 'is not',
  },
  accepts: [...EVERY_SET, 'links'],
  arity: 'one',
  takesEmptyText: true,
  build: <S>(words: FilterWords<S>, column: S, operand: Operand, _set: FilterSet) =>
    words.or([words.isNull(column), words.not(equal(words, column, operand))]),
})
