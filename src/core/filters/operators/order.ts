import type { FilterWords, Sign } from '../dialect-words.ts'
import type { Operand } from './operator.ts'
import { defineOperator, type FilterOperator } from './operator.ts'

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

export const gt = compare('gt', [], '>', { number: '>', time: '>', links: '>', date: 'is after' })
export const lt = compare('lt', [], '<', { number: '<', time: '<', links: '<', date: 'is before' })
export const gte = compare('gte', ['ge'], '>=', {
  number: '≥',
  time: '≥',
  links: '≥',
  date: 'is on or after',
})
export const lte = compare('lte', ['le'], '<=', {
  number: '≤',
  time: '≤',
  links: '≤',
  date: 'is on or before',
})
