import type { FilterSet } from '../../fields/field-type.ts'
import { btw, nbtw } from './between.ts'
import { checked, notchecked } from './checked.ts'
import { endsWith, like, nlike, npattern, pattern, startsWith } from './contains.ts'
import { eq, neq } from './equality.ts'
import { is, isnot } from './is.ts'
import { isWithin } from './is-within.ts'
import { allof, anyof, inValues, nallof, nanyof } from './lists.ts'
import type { FilterOperator } from './operator.ts'
import { gt, gte, lt, lte } from './order.ts'
import { blank, empty, isNull, notblank, notEmpty, notNull } from './presence.ts'

/** Every operator, in the order of the menus. */
export const OPERATORS: readonly FilterOperator[] = [
  eq,
  neq,
  gt,
  lt,
  gte,
  lte,
  btw,
  nbtw,
  isWithin,
  like,
  nlike,
  startsWith,
  endsWith,
  anyof,
  allof,
  nallof,
  nanyof,
  checked,
  notchecked,
  blank,
  notblank,
  // Known to programs only.
  inValues,
  isNull,
  notNull,
  empty,
  notEmpty,
  is,
  isnot,
  pattern,
  npattern,
]

const BY_NAME: ReadonlyMap<string, FilterOperator> = new Map(
  OPERATORS.flatMap((operator) =>
    [operator.key, ...operator.aliases].map((name) => [name, operator] as const),
  ),
)

/** The operator of that key or alias, or null. */
export const findOperator = (name: string): FilterOperator | null => BY_NAME.get(name) ?? null

/** What a menu offers for fields of this set: `{ key: 'like', label: 'contains' }`, in order. */
export const operatorsFor = (set: FilterSet): { key: string; label: string; operator: FilterOperator }[] =>
  OPERATORS.flatMap((operator) => {
    const label = operator.offers[set]
    return label === undefined ? [] : [{ key: operator.key, label, operator }]
  })
