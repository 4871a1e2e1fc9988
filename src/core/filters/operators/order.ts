import { m } from '../../messages.gen.ts'
import type { FilterPrimitives, Sign } from '../primitives.ts'
import { defineOperator, type FilterOperator, inRange, meets, type Operand, sign } from './operator.ts'

/**
 * Comparisons with a day include or exclude the whole day, on fields with a time too: "after" starts at its
 * end, "on or before" includes all of it.
 */
const DAY_EDGE: Record<Sign, (range: NonNullable<Operand['range']>) => { sign: Sign; day: string }> = {
  '<': ({ from }) => ({ sign: '<', day: from }),
  '<=': ({ to, end }) => ({ sign: end, day: to }),
  '>': ({ to, end }) => ({ sign: end === '<' ? '>=' : '>', day: to }),
  '>=': ({ from }) => ({ sign: '>=', day: from }),
}

const compare = (key: string, aliases: string[], sign: Sign, labels: FilterOperator['offers']) =>
  defineOperator({
    key,
    aliases,
    offers: labels,
    accepts: ['text', 'number', 'time', 'links', 'date'],
    arity: 'one',
    build<S>(primitives: FilterPrimitives<S>, column: S, { values, range }: Operand): S {
      if (!range) return primitives.compare(column, sign, values[0] ?? '')
      const edge = DAY_EDGE[sign](range)
      return primitives.compare(column, edge.sign, edge.day)
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

function within<S>(
  primitives: FilterPrimitives<S>,
  column: S,
  { values: [low = '', high = ''] }: Operand,
): S {
  return meets(primitives, column, (value, { and, compare }) =>
    and([compare(value, '>=', low), compare(value, '<=', high)]),
  )
}

/** Between two values, inclusive. */
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
  build: (primitives, column, operand) =>
    primitives.or([primitives.isNull(column), primitives.not(within(primitives, column, operand))]),
})

/**
 * Between two days, or on fields with a time two instants, in their stored form; both are included. Only the server asks
 * for it, for the period of a calendar.
 */
export const during = defineOperator({
  key: 'during',
  aliases: [],
  offers: {},
  accepts: ['date'],
  arity: 'two',
  build: within,
})

/** Within a range of days around today: the past week, the next 30 days. */
export const isWithin = defineOperator({
  key: 'isWithin',
  aliases: [],
  offers: { date: m.filter_is_within },
  accepts: ['date'],
  arity: 'date',
  build(primitives, column, { range }) {
    return range ? inRange(primitives, column, range) : primitives.constant(false)
  },
})
