import { m } from '../../messages.gen.ts'
import type { ValueType } from '../ast.ts'
import type { Build, Value } from '../build.ts'
import {
  elementsBetween,
  elementsOf,
  filledElements,
  listOf,
  MAX_ELEMENTS,
  sortedElements,
  splitText,
  uniqueElements,
} from '../lists.ts'
import { wholeArg } from '../numbers.ts'
import { MAX_PLACE, whole } from '../semantics.ts'
import { argument, defineFunction } from './define.ts'

/** Parts of a text as a list. */
export const split = defineFunction({
  name: 'SPLIT',
  syntax: 'SPLIT(text, separator)',
  help: m.formula_split_help,
  failure: 'possible',
  examples: {
    'SPLIT("a;b;c", ";")': 'a, b, c',
    'ARRAYSLICE(SPLIT("2024-03-05", "-"), 2, 2)': '03',
    'SPLIT("abc", "")': 'abc',
  },
  args: ['text', 'text'],
  returns: 'texts',
  evaluate: ([text, separator]) => {
    if (text === null || separator === null) return null
    const parts = splitText(String(text), String(separator))
    return parts && listOf(parts)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once(
      [argument(args, 0, build, 'text'), argument(args, 1, build, 'text')],
      (text, separator) => {
        const without = words.length(words.replace(text, separator, words.text('')))
        const separators = words.divide(
          words.arithmetic('-', words.length(text), without),
          words.length(separator),
        )
        return words.choose(
          [
            [words.isNull(separator), words.nothing('texts')],
            [words.compareText('=', separator, words.text('')), words.listOf(text)],
            [words.compare('>=', separators, constant(MAX_ELEMENTS)), words.nothing('texts')],
          ],
          words.split(text, separator),
        )
      },
    )
  },
})

/** The type of a result that has the elements of the first argument. */
const likeFirst = ([type = 'texts']: ValueType[]): ValueType => type

/** The elements of a list as text. */
export const arrayJoin = defineFunction({
  name: 'ARRAYJOIN',
  syntax: 'ARRAYJOIN(list, [separator])',
  help: m.formula_arrayjoin_help,
  examples: { 'ARRAYJOIN(SPLIT("a-b-c", "-"), "; ")': 'a; b; c', 'ARRAYJOIN(SPLIT("a-b", "-"))': 'a, b' },
  args: ['list', 'text'],
  min: 1,
  returns: 'text',
  evaluate: ([list = null, separator = ', ']) =>
    list === null || separator === null ? null : elementsOf(list).join(String(separator)),
  compile: (args, { words }) => {
    const [list, separator] = args
    return list ? words.joinList(list.sql, separator?.sql ?? words.text(', ')) : words.nothing('text')
  },
})

/** Several lists as one. */
export const arrayFlatten = defineFunction({
  name: 'ARRAYFLATTEN',
  syntax: 'ARRAYFLATTEN(list, …)',
  help: m.formula_arrayflatten_help,
  examples: { 'ARRAYFLATTEN(SPLIT("a;b", ";"), "c", BLANK())': 'a, b, c' },
  args: [],
  rest: ['list'],
  min: 1,
  returns: (types) => (types.every((type) => type === 'numbers') ? 'numbers' : 'texts'),
  evaluate: (args) => listOf(args.flatMap(elementsOf)),
  compile: (args, { words }) => words.concatLists(args.map(({ sql }) => sql)),
})

/** A list without repeated elements. */
export const arrayUnique = defineFunction({
  name: 'ARRAYUNIQUE',
  syntax: 'ARRAYUNIQUE(list)',
  help: m.formula_arrayunique_help,
  examples: { 'ARRAYUNIQUE(SPLIT("b,a,b", ","))': 'b, a' },
  args: ['list'],
  returns: likeFirst,
  evaluate: ([list = null]) => listOf(uniqueElements(elementsOf(list))),
  compile: (args, build) =>
    build.once([argument(args, 0, build, 'texts')], (list) => build.words.uniqueElements(list)),
})

/** A list without its empty elements. */
export const arrayCompact = defineFunction({
  name: 'ARRAYCOMPACT',
  syntax: 'ARRAYCOMPACT(list)',
  help: m.formula_arraycompact_help,
  examples: { 'ARRAYCOMPACT(SPLIT("a,,b,", ","))': 'a, b' },
  args: ['list'],
  returns: likeFirst,
  evaluate: ([list = null]) => listOf(filledElements(elementsOf(list))),
  compile: (args, build) => build.words.filledElements(argument(args, 0, build, 'texts').sql),
})

/** The elements of a list in order. */
export const arraySort = defineFunction({
  name: 'ARRAYSORT',
  syntax: 'ARRAYSORT(list, ["asc" | "desc"])',
  help: m.formula_arraysort_help,
  examples: {
    'ARRAYSORT(SPLIT("b,c,a", ","))': 'a, b, c',
    'ARRAYSORT(SPLIT("b,c,a", ","), "desc")': 'c, b, a',
  },
  args: ['list', 'order'],
  min: 1,
  returns: likeFirst,
  evaluate: ([list = null, order], _moment, [type]) =>
    listOf(sortedElements(elementsOf(list), type === 'numbers', isDescending(order))),
  compile: ([list, order], { words }) =>
    list
      ? words.sortedElements(list.sql, list.type === 'numbers', isDescending(order?.constant))
      : words.nothing('texts'),
})

const isDescending = (order: unknown): boolean => String(order).toLowerCase() === 'desc'

/** Some of the elements of a list. */
export const arraySlice = defineFunction({
  name: 'ARRAYSLICE',
  syntax: 'ARRAYSLICE(list, from, [to])',
  help: m.formula_arrayslice_help,
  examples: {
    'ARRAYSLICE(SPLIT("a,b,c,d", ","), 2, 3)': 'b, c',
    'ARRAYSLICE(SPLIT("a,b,c,d", ","), 3)': 'c, d',
    'ARRAYSLICE(SPLIT("a,b,c,d", ","), -2)': 'c, d',
    'ARRAYSLICE(SPLIT("a,b", ","), 5)': null,
  },
  args: ['list', 'number', 'number'],
  min: 2,
  returns: likeFirst,
  evaluate: ([list = null, from = null, to = -1]) => {
    if (from === null || to === null) return null
    const elements = elementsOf(list)
    const place = (value: number) => {
      const written = whole(value, -MAX_PLACE, MAX_PLACE)
      return written < 0 ? elements.length + 1 + written : written
    }
    return listOf(elementsBetween(elements, place(Number(from)), place(Number(to))))
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const list = argument(args, 0, build, 'texts')
    const from = wholeArg(argument(args, 1, build, 'number'), build, -MAX_PLACE, MAX_PLACE)
    const to = args[2]
      ? wholeArg(args[2], build, -MAX_PLACE, MAX_PLACE)
      : { sql: constant(-1), type: 'number' as const, isSimple: true }
    return build.once([list, from, to], (elements, first, last) => {
      const place = (written: S) =>
        words.choose(
          [
            [
              words.compare('<', written, constant(0)),
              words.arithmetic(
                '+',
                words.arithmetic('+', words.elementCount(elements), constant(1)),
                written,
              ),
            ],
          ],
          written,
        )
      return words.choose(
        [[words.or([words.isNull(first), words.isNull(last)]), words.nothing(list.type)]],
        words.elementsBetween(elements, place(first), place(last)),
      )
    })
  },
})
