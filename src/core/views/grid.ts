import * as z from 'zod/mini'
import type { ViewKindDefinition } from './view-kind.ts'

/** A grid keeps nothing beyond what every view has; row height and frozen columns are columns of its row. */
export const gridOptions = z.strictObject({})
export type GridOptions = z.output<typeof gridOptions>

export const grid: ViewKindDefinition<GridOptions> = {
  kind: 'grid',
  wireNumber: 3,
  label: 'Grid',
  options: gridOptions,
  defaults: () => ({}),
  fieldIds: () => [],
  prune: (options) => options,
  problem: () => null,
  isTabular: true,
  canGroup: true,
  hasManualOrder: false,
  shownAtFirst: null,
}
