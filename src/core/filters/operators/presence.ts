import type { FilterSet } from '../../fields/field-type.ts'
import type { LocalizedText } from '../../message.ts'
import { m } from '../../messages.gen.ts'
import type { FilterWords } from '../dialect-words.ts'
import { defineOperator, EVERY_SET, type FilterOperator, TEXT_LIKE } from './operator.ts'

type Build = <S>(words: FilterWords<S>, column: S, set: FilterSet) => S

const presence = (key: string, aliases: string[], build: Build, label?: LocalizedText): FilterOperator =>
  defineOperator({
    key,
    aliases,
    offers: label === undefined ? {} : Object.fromEntries(OFFERED.map((set) => [set, label])),
    accepts: PRESENT,
    arity: 'none',
    build: (words, column, _operand, set) => build(words, column, set),
  })

/** NULL; a link: without a linked record. */
const isAbsent = <S>(words: FilterWords<S>, column: S): S =>
  words.isUnlinked?.(column) ?? words.isNull(column)

/** Files and what may not be looked at are compared by nothing but whether there are any. */
const PRESENT: readonly FilterSet[] = [...EVERY_SET, 'links', 'attachment', 'presence']

/** A checkbox asks for "checked" instead. */
const OFFERED: readonly FilterSet[] = PRESENT.filter((set) => set !== 'checkbox')

/** True where a value can be an empty text. A link has none: its record may be unnamed, but is there. */
const hasText = <S>(words: FilterWords<S>, set: FilterSet): boolean =>
  TEXT_LIKE.includes(set) && words.isUnlinked === undefined

const blankWords: Build = (words, column, set) =>
  hasText(words, set) ? words.or([words.isNull(column), words.eq(column, '')]) : isAbsent(words, column)

/** An empty text, which is not the same as no value; on fields that hold no text, no value. */
const emptyWords: Build = (words, column, set) =>
  hasText(words, set) ? words.eq(column, '') : isAbsent(words, column)

/** No value: neither one nor an empty text. */
export const blank = presence('blank', ['isblank'], blankWords, m.filter_is_blank)
export const notblank = presence(
  'notblank',
  ['isnotblank'],
  (words, column, set) => words.not(blankWords(words, column, set)),
  m.filter_is_not_blank,
)
export const isNull = presence('null', [], (words, column) => isAbsent(words, column))
export const notNull = presence('notnull', [], (words, column) => words.not(isAbsent(words, column)))
export const empty = presence('empty', [], emptyWords)
export const notEmpty = presence('notempty', [], (words, column, set) =>
  words.not(emptyWords(words, column, set)),
)

/** The box is checked. */
export const checked = defineOperator({
  key: 'checked',
  aliases: [],
  offers: { checkbox: m.filter_is_checked },
  accepts: ['checkbox'],
  arity: 'none',
  build: (words, column) => words.eq(column, true),
})

/** The box is not checked, or was never touched. */
export const notchecked = defineOperator({
  key: 'notchecked',
  aliases: [],
  offers: { checkbox: m.filter_is_not_checked },
  accepts: ['checkbox'],
  arity: 'none',
  build: (words, column) => words.or([words.isNull(column), words.not(words.eq(column, true))]),
})

/** The words that `is` and `isnot` compare with, and the operator that each stands for (wire reference §14.5). */
const IS: ReadonlyMap<string, [is: FilterOperator, isnot: FilterOperator]> = new Map([
  ['null', [isNull, notNull]],
  ['notnull', [notNull, isNull]],
  ['empty', [empty, notEmpty]],
  ['notempty', [notEmpty, empty]],
  ['blank', [blank, notblank]],
  ['notblank', [notblank, blank]],
  ['true', [checked, notchecked]],
  ['false', [notchecked, checked]],
])

/** True for a word that `is` takes on a field of that set. */
export function isWordOf(word: string, set: FilterSet): boolean {
  return IS.get(word)?.[0].accepts.includes(set) ?? false
}

const byWord = (key: 'is' | 'isnot') =>
  defineOperator({
    key,
    aliases: [],
    offers: {},
    accepts: [...EVERY_SET, 'links'],
    arity: 'word',
    build(words, column, operand, set) {
      const pair = IS.get(String(operand.values[0]))
      const operator = key === 'is' ? pair?.[0] : pair?.[1]
      return operator ? operator.build(words, column, operand, set) : words.constant(false)
    },
  })

/** Has the state that the value names, e.g. `null` or `true`. */
export const is = byWord('is')
/** Has not the state that the value names. */
export const isnot = byWord('isnot')
