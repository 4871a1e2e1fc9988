/** What a rollup can work out over the linked records (spec §5, "Aggregations"). */
export const ROLLUP_FUNCTIONS = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'countDistinct',
  'sumDistinct',
  'avgDistinct',
] as const

/** One of `ROLLUP_FUNCTIONS`. */
export type RollupFunction = (typeof ROLLUP_FUNCTIONS)[number]

/** True for the name of a rollup function. */
export const isRollupFunction = (name: unknown): name is RollupFunction =>
  ROLLUP_FUNCTIONS.some((known) => known === name)
