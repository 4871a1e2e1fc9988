import { m } from '../../messages.gen.ts'
import type { FilterWords, Sign } from '../dialect-words.ts'
import { defineOperator, type FilterOperator, inRange, meets, type Operand, sign } from './operator.ts'

/**
 * The day that is meant is taken whole: "after" begins when it ends, and "on or before" holds all of
 * it, on fields with a time too.
 */
const DAY_EDGE = {
  '<': { sign: '<', edge: 'from' },
  '<=': { sign: '<', edge: 'to' },
  '>': { sign: '>=', edge: 'to' },
  '>=': { sign: '>=', edge: 'from' },
} as const satisfies Record<Sign, { sign: Sign; edge: 'from' | 'to' }>

const compare = (key: string, aliases: string[], sign: Sign, labels: FilterOperator['offers']) =>
  defineOperator({
    key,
    aliases,
    offers: labels,
    accepts: ['text', 'number', 'time', 'links', 'date'],
    arity: 'one',
    build<S>(words: FilterWords<S>, column: S, { values, range }: Operand): S {
      if (!range) return words.compare(column, sign, values[0] ?? '')
      const day = DAY_EDGE[sign]
      return words.compare(column, day.sign, range[day.edge])
    },
  })

export const gt = compare('gt', [], '>', {
  number: sign('>'),
  time: sign('>'),
  links: sign('>'),
  date: m.filter_is_after,
})
export const lt = compare('lt', [], '<', {
  number: sign('<'),
  time: sign('<'),
  links: sign('<'),
  date: m.filter_is_before,
})
export const gte = compare('gte', ['ge'], '>=', {
  number: sign('≥'),
  time: sign('≥'),
  links: sign('≥'),
  date: m.filter_is_on_or_after,
})
export const lte = compare('lte', ['le'], '<=', {
  number: sign('≤'),
  time: sign('≤'),
  links: sign('≤'),
  date: m.filter_is_on_or_before,
})

function within<S>(words: FilterWords<S>, column: S, { values: [low = '', high = ''] }: Operand): S {
  return meets(words, column, (value, { and, compare }) =>
    and([compare(value, '>=', low), compare(value, '<=', high)]),
  )
}

/** From the first value to the second, both included. */
export const btw = defineOperator({
  key: 'btw',
  aliases: [],
  offers: { time: m.filter_is_between, number: m.filter_is_between },
  accepts: ['text', 'time', 'number'],
  arity: 'two',
  build: within,
})

/** Outside of the two values, or without a value. */
export const nbtw = defineOperator({
  key: 'nbtw',
  aliases: [],
  offers: { time: m.filter_is_not_between, number: m.filter_is_not_between },
  accepts: ['text', 'time', 'number'],
  arity: 'two',
  build: (words, column, operand) =>
    words.or([words.isNull(column), words.not(within(words, column, operand))]),
})

/** Lies in a stretch of days beside today: the past week, the next 30 days. */
export const isWithin = defineOperator({
  key: 'isWithin',
  aliases: [],
  offers: { date: m.filter_is_within },
  accepts: ['date'],
  arity: 'date',
  build(words, column, { range }) {
    return range ? inRange(words, column, range) : words.constant(false)
  },
})
