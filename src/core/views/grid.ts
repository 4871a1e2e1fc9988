import * as z from 'zod/mini'
import type { ViewKindDefinition } from './view-kind.ts'

/** A grid has no options: row height and frozen columns are properties of every view. */
const gridOptions = z.strictObject({})
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
