import type { Field } from '../model.ts'
import { isSingleLink, linkOf } from './link-options.ts'
import { shownType } from './result.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from './rollup-functions.ts'

const DATES: readonly string[] = ['Date', 'DateTime', 'CreatedTime', 'LastModifiedTime', 'Time']

/**
 * The functions that a field of the related table offers: numbers all of them, dates those that need no
 * sum, everything else its count. Links to many are numbers: how many there are. A lookup offers what the
 * values that it lists offer.
 */
export function rollupFunctionsFor(
  target: Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>,
): readonly RollupFunction[] {
  const { type } = shownType(target)
  const link = linkOf(target)
  if (link) return isSingleLink(link) ? ['count'] : ROLLUP_FUNCTIONS
  if (DATES.includes(type.name)) return ['count', 'min', 'max', 'countDistinct']
  const isNumber = type.filters === 'number' && type.name !== 'ForeignKey' && type.name !== 'ID'
  if (isNumber) return ROLLUP_FUNCTIONS
  return type.name === 'ForeignKey' || type.name === 'ID' ? ['count', 'countDistinct'] : ['count']
}
