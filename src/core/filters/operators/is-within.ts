import { defineOperator, inRange } from './operator.ts'

/** Lies in a stretch of days beside today: the past week, the next 30 days. */
export const isWithin = defineOperator({
  key: 'isWithin',
  aliases: [],
  offers: { date: 'is within' },
  accepts: ['date'],
  arity: 'date',
  build(words, column, { range }) {
    return range ? inRange(words, column, range) : words.constant(false)
  },
})
