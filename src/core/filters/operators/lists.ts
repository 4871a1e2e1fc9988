import type { FilterSet } from '../../fields/field-type.ts'
import { m } from '../../messages.gen.ts'
import type { FilterPrimitives } from '../primitives.ts'
import { defineOperator, EVERY_SET, inRange, type Operand, sign } from './operator.ts'

/** Equality; an instant equals a day that contains it. */
function equal<S>(primitives: FilterPrimitives<S>, column: S, { values, range }: Operand): S {
  if (range) return inRange(primitives, column, range)
  return primitives.eq(column, values[0] ?? '')
}

/** Equal to the value, case-sensitive; on dates, within that day. */
export const eq = defineOperator({
  key: 'eq',
  aliases: [],
  offers: {
    text: m.filter_is_equal_to,
    number: sign('='),
    time: sign('='),
    links: sign('='),
    select: m.filter_is,
    user: m.filter_is,
    date: m.filter_is,
  },
  accepts: [...EVERY_SET, 'links'],
  arity: 'one',
  takesEmptyText: true,
  build: equal,
})

/** Not equal; includes records without a value. */
export const neq = defineOperator({
  key: 'neq',
  aliases: ['not'],
  offers: {
    text: m.filter_is_not_equal_to,
    number: sign('≠'),
    time: sign('≠'),
    links: sign('≠'),
    select: m.filter_is_not,
    user: m.filter_is_not,
    date: m.filter_is_not,
  },
  accepts: [...EVERY_SET, 'links'],
  arity: 'one',
  takesEmptyText: true,
  build: <S>(primitives: FilterPrimitives<S>, column: S, operand: Operand, _set: FilterSet) =>
    primitives.or([primitives.isNull(column), primitives.not(equal(primitives, column, operand))]),
})

const LISTED: readonly FilterSet[] = ['text', 'number', 'time', 'select', 'multiSelect', 'user']

/** True for cells with several values, each compared separately. */
const isList = (set: FilterSet): boolean => set === 'multiSelect' || set === 'user'

/** One condition per value for multi-value cells; else equality with any of the values. */
function any<S>(primitives: FilterPrimitives<S>, column: S, { values }: Operand, set: FilterSet): S {
  if (!isList(set)) return primitives.inList(column, values)
  return primitives.or(values.map((title) => primitives.hasOption(column, String(title))))
}

function all<S>(primitives: FilterPrimitives<S>, column: S, { values }: Operand, set: FilterSet): S {
  if (!isList(set)) return primitives.and(values.map((value) => primitives.eq(column, value)))
  return primitives.and(values.map((title) => primitives.hasOption(column, String(title))))
}

/** Negates a condition; includes records without a value. */
const not = <S>(primitives: FilterPrimitives<S>, column: S, condition: S): S =>
  primitives.or([primitives.isNull(column), primitives.not(condition)])

/** The whole cell equals one of the values. */
export const inValues = defineOperator({
  key: 'in',
  aliases: [],
  offers: {},
  accepts: LISTED,
  arity: 'many',
  build: (primitives, column, { values }) => primitives.inList(column, values),
})

export const anyof = defineOperator({
  key: 'anyof',
  aliases: [],
  offers: { select: m.filter_is_any_of, multiSelect: m.filter_has_any_of, user: m.filter_has_any_of },
  accepts: LISTED,
  arity: 'many',
  build: any,
})

export const allof = defineOperator({
  key: 'allof',
  aliases: [],
  offers: { multiSelect: m.filter_has_all_of, user: m.filter_has_all_of },
  accepts: LISTED,
  arity: 'many',
  build: all,
})

export const nanyof = defineOperator({
  key: 'nanyof',
  aliases: [],
  offers: { select: m.filter_is_none_of, multiSelect: m.filter_has_none_of, user: m.filter_has_none_of },
  accepts: LISTED,
  arity: 'many',
  build: (primitives, column, operand, set) => not(primitives, column, any(primitives, column, operand, set)),
})

export const nallof = defineOperator({
  key: 'nallof',
  aliases: [],
  offers: { multiSelect: m.filter_does_not_have_all_of, user: m.filter_does_not_have_all_of },
  accepts: LISTED,
  arity: 'many',
  build: (primitives, column, operand, set) => not(primitives, column, all(primitives, column, operand, set)),
})
