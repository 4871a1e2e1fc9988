import { useMemo } from 'react'
import type { Field, Person } from '../../../../src/core/model.ts'
import type { RowColoring } from '../../../../src/core/views/index.ts'
import { useDayCount } from '../../../new-day.ts'
import { session } from '../../../session/index.ts'
import { timeZone } from '../../../time-zone.ts'
import { type ColorOf, rowColors } from './row-colors.ts'

/** The colours of a view's records, memoised. The store must read `coloringFields`. */
export function useRowColor(
  fields: readonly Field[],
  coloring: RowColoring | null,
  people: readonly Person[],
): ColorOf | null {
  // Conditions relative to today change at midnight.
  const day = useDayCount(fields)
  // biome-ignore lint/correctness/useExhaustiveDependencies: recomputed when the day changes
  return useMemo(
    () => rowColors(coloring, fields, { now: new Date(), timeZone, actorId: session.userId(), people }),
    [coloring, fields, people, day],
  )
}
