import type { FilterWords } from '../dialect-words.ts'
import type { Operand } from './operator.ts'
import { defineOperator, meets } from './operator.ts'

function within<S>(words: FilterWords<S>, column: S, { values: [low = '', high = ''] }: Operand): S {
  return meets(words, column, (value, { and, compare }) =>
    and([compare(value, '>=', low), compare(value, '<=', high)]),
  )
}

/** From the first value to the second, both included. */
export const btw = defineOperator({
  key: 'btw',
  aliases: [],
  offers: { time: 'is between', number: 'is between' },
  accepts: ['text', 'time', 'number'],
  arity: 'two',
  build: within,
})

/** Outside of the two values, or without a value. */
export const nbtw = defineOperator({
  key: 'nbtw',
  aliases: [],
  offers: { time: 'is not between', number: 'is not between' },
  accepts: ['text', 'time', 'number'],
  arity: 'two',
  build: (words, column, operand) =>
    words.or([words.isNull(column), words.not(within(words, column, operand))]),
})
