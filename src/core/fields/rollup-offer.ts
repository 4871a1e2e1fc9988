import type { Field } from './field.ts'
import type { StorageKind } from './field-type.ts'
import { isSingleLink, linkOf } from './link-options.ts'
import { shownType } from './result.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from './rollup-functions.ts'

const TEMPORAL: ReadonlySet<StorageKind> = new Set(['date', 'datetime', 'time'])

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
  if (TEMPORAL.has(type.storage)) return ['count', 'min', 'max', 'countDistinct']
  if (type.isForeignKey || type.storage === 'id') return ['count', 'countDistinct']
  return type.filters === 'number' ? ROLLUP_FUNCTIONS : ['count']
}
