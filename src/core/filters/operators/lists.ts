import type { FilterSet } from '../../fields/field-type.ts'
import { m } from '../../messages.gen.ts'
import type { FilterWords } from '../dialect-words.ts'
import { defineOperator, EVERY_SET, inRange, type Operand, sign } from './operator.ts'

/** Equal; a date field's instant is equal to a day when it lies in it. */
function equal<S>(words: FilterWords<S>, column: S, { values, range }: Operand): S {
  if (range) return inRange(words, column, range)
  return words.eq(column, values[0] ?? '')
}

/** Equal to the value, telling upper from lower case; on dates, within that day. */
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

/** Not equal; a record without a value is not equal to any. */
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
  build: <S>(words: FilterWords<S>, column: S, operand: Operand, _set: FilterSet) =>
    words.or([words.isNull(column), words.not(equal(words, column, operand))]),
})

const LISTED: readonly FilterSet[] = ['text', 'number', 'time', 'select', 'multiSelect', 'user']

/** A cell of several, each of which is looked at by itself. */
const isList = (set: FilterSet): boolean => set === 'multiSelect' || set === 'user'

/** On choices and people of several one condition for each; on all others equality with any of the values. */
function any<S>(words: FilterWords<S>, column: S, { values }: Operand, set: FilterSet): S {
  if (!isList(set)) return words.inList(column, values)
  return words.or(values.map((title) => words.hasOption(column, String(title))))
}

function all<S>(words: FilterWords<S>, column: S, { values }: Operand, set: FilterSet): S {
  if (!isList(set)) return words.and(values.map((value) => words.eq(column, value)))
  return words.and(values.map((title) => words.hasOption(column, String(title))))
}

/** Neither condition nor value: a record without a value has none of them, too. */
const not = <S>(words: FilterWords<S>, column: S, condition: S): S =>
  words.or([words.isNull(column), words.not(condition)])

/** The whole value is one of those listed. */
export const inValues = defineOperator({
  key: 'in',
  aliases: [],
  offers: {},
  accepts: LISTED,
  arity: 'many',
  build: (words, column, { values }) => words.inList(column, values),
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
  build: (words, column, operand, set) => not(words, column, any(words, column, operand, set)),
})

export const nallof = defineOperator({
  key: 'nallof',
  aliases: [],
  offers: { multiSelect: m.filter_does_not_have_all_of, user: m.filter_does_not_have_all_of },
  accepts: LISTED,
  arity: 'many',
  build: (words, column, operand, set) => not(words, column, all(words, column, operand, set)),
})
