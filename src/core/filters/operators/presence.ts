import type { FilterSet } from '../../fields/field-type.ts'
import type { LocalizedText } from '../../message.ts'
import { m } from '../../messages.gen.ts'
import type { FilterPrimitives } from '../primitives.ts'
import { defineOperator, EVERY_SET, type FilterOperator, TEXT_LIKE } from './operator.ts'

type Build = <S>(primitives: FilterPrimitives<S>, column: S, set: FilterSet) => S

const presence = (key: string, aliases: string[], build: Build, label?: LocalizedText): FilterOperator =>
  defineOperator({
    key,
    aliases,
    offers: label === undefined ? {} : Object.fromEntries(OFFERED.map((set) => [set, label])),
    accepts: PRESENT,
    arity: 'none',
    build: (primitives, column, _operand, set) => build(primitives, column, set),
  })

/** NULL; for links, without linked records. */
const isAbsent = <S>(primitives: FilterPrimitives<S>, column: S): S =>
  primitives.isUnlinked?.(column) ?? primitives.isNull(column)

/** Files and secret values can only be tested for presence. */
const PRESENT: readonly FilterSet[] = [...EVERY_SET, 'links', 'attachment', 'presence']

/** Checkboxes offer "checked" instead. */
const OFFERED: readonly FilterSet[] = PRESENT.filter((set) => set !== 'checkbox')

/** True if a value can be ''. Links cannot: an unnamed linked record still counts. Lists leave out empty texts. */
const hasText = <S>({ isUnlinked, some }: FilterPrimitives<S>, set: FilterSet): boolean =>
  TEXT_LIKE.includes(set) && isUnlinked === undefined && some === undefined

const isBlank: Build = (primitives, column, set) =>
  hasText(primitives, set)
    ? primitives.or([primitives.isNull(column), primitives.eq(column, '')])
    : isAbsent(primitives, column)

/** ''; on fields without text values, NULL. */
const isEmptyText: Build = (primitives, column, set) =>
  hasText(primitives, set) ? primitives.eq(column, '') : isAbsent(primitives, column)

/** NULL or ''. */
export const blank = presence('blank', ['isblank'], isBlank, m.filter_is_blank)
export const notblank = presence(
  'notblank',
  ['isnotblank'],
  (primitives, column, set) => primitives.not(isBlank(primitives, column, set)),
  m.filter_is_not_blank,
)
export const isNull = presence('null', [], (primitives, column) => isAbsent(primitives, column))
export const notNull = presence('notnull', [], (primitives, column) =>
  primitives.not(isAbsent(primitives, column)),
)
export const empty = presence('empty', [], isEmptyText)
export const notEmpty = presence('notempty', [], (primitives, column, set) =>
  primitives.not(isEmptyText(primitives, column, set)),
)

export const checked = defineOperator({
  key: 'checked',
  aliases: [],
  offers: { checkbox: m.filter_is_checked },
  accepts: ['checkbox'],
  arity: 'none',
  build: (primitives, column) => primitives.eq(column, true),
})

/** Unchecked or NULL. */
export const notchecked = defineOperator({
  key: 'notchecked',
  aliases: [],
  offers: { checkbox: m.filter_is_not_checked },
  accepts: ['checkbox'],
  arity: 'none',
  build: (primitives, column) =>
    primitives.or([primitives.isNull(column), primitives.not(primitives.eq(column, true))]),
})

/** Values of `is` and `isnot`, with the equivalent operators (wire §14.5). */
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

/** True for a value that `is` accepts on fields of that set. */
export function isStateName(word: string, set: FilterSet): boolean {
  return IS.get(word)?.[0].accepts.includes(set) ?? false
}

const byWord = (key: 'is' | 'isnot') =>
  defineOperator({
    key,
    aliases: [],
    offers: {},
    accepts: [...EVERY_SET, 'links'],
    arity: 'word',
    build(primitives, column, operand, set) {
      const pair = IS.get(String(operand.values[0]))
      const operator = key === 'is' ? pair?.[0] : pair?.[1]
      return operator ? operator.build(primitives, column, operand, set) : primitives.constant(false)
    },
  })

/** Has the state that the value names, e.g. `null` or `true`. */
export const is = byWord('is')
/** Does not have the state that the value names. */
export const isnot = byWord('isnot')
