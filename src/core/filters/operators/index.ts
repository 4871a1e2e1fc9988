import type { FilterSet } from '../../fields/field-type.ts'
import { endsWith, like, nlike, npattern, pattern, startsWith } from './contains.ts'
import { allof, anyof, eq, inValues, nallof, nanyof, neq } from './lists.ts'
import type { FilterOperator } from './operator.ts'
import { btw, during, gt, gte, isWithin, lt, lte, nbtw } from './order.ts'
import {
  blank,
  checked,
  empty,
  is,
  isNull,
  isnot,
  notblank,
  notchecked,
  notEmpty,
  notNull,
} from './presence.ts'

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
  // API only.
  inValues,
  isNull,
  notNull,
  empty,
  notEmpty,
  is,
  isnot,
  pattern,
  npattern,
  during,
]

const BY_NAME: ReadonlyMap<string, FilterOperator> = new Map(
  OPERATORS.flatMap((operator) =>
    [operator.key, ...operator.aliases].map((name) => [name, operator] as const),
  ),
)

/** Finds an operator by key or alias; else null. */
export const findOperator = (name: string): FilterOperator | null => BY_NAME.get(name) ?? null

/** Operators in the menu for fields of this set: `{ key: 'like', label: 'contains' }`, in order. */
export const operatorsFor = (set: FilterSet): { key: string; label: string; operator: FilterOperator }[] =>
  OPERATORS.flatMap((operator) => {
    const label = operator.offers[set]
    return label === undefined ? [] : [{ key: operator.key, label: label(), operator }]
  })
