import { defineOperator } from './operator.ts'

/** The box is checked. */
export const checked = defineOperator({
  key: 'checked',
  aliases: [],
  offers: { checkbox: 'is checked' },
  accepts: ['checkbox'],
  arity: 'none',
  build: (words, column) => words.eq(column, true),
})

/** The box is not checked, or was never touched. */
export const notchecked = defineOperator({
  key: 'notchecked',
  aliases: [],
  offers: { checkbox: 'is not checked' },
  accepts: ['checkbox'],
  arity: 'none',
  build: (words, column) => words.or([words.isNull(column), words.not(words.eq(column, true))]),
})
