import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { workedOut } from './system-value.ts'

/** Aggregations over linked records (spec §5, "Aggregations"). */
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

/** One value worked out over a field of the linked records. */
export const rollup = defineFieldType({
  ...workedOut,
  name: 'Rollup',
  label: m.field_type_rollup,
  help: m.field_type_rollup_help,
  example: '1,250',
  storage: 'real',
  options: z.object({
    /** The link field of the same table: a link to many. */
    relationFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    /** The field of the related table. */
    targetFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    function: z._default(z.enum(ROLLUP_FUNCTIONS), 'count'),
    /** Decimals that are shown; null: as many as the function and its target suggest. */
    precision: z._default(z.nullable(z.int().check(z.minimum(0), z.maximum(8))), null),
    thousands: z._default(z.boolean(), false),
  }),
  computed: 'rollup',
  parse: readNumberText,
})
