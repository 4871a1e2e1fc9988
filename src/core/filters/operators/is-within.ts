import { defineOperator } from './operator.ts'

/** Lies in a stretch of days beside today: the past week, the next 30 days. */
export const isWithin = defineOperator({
  key: 'isWithin',
  aliases: [],
  offers: { date: 'is within' },
  accepts: ['date'],
  arity: 'date',
  build(words, column, { range }) {
    if (!range) return words.constant(false)
    return words.and([words.compare(column, '>=', range.from), words.compare(column, '<', range.to)])
  },
})
