import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { computedValue } from './system-value.ts'

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

export type RollupFunction = (typeof ROLLUP_FUNCTIONS)[number]

export const isRollupFunction = (name: unknown): name is RollupFunction =>
  ROLLUP_FUNCTIONS.some((known) => known === name)

/** An aggregate over a field of the linked records. */
export const rollup = defineFieldType({
  ...computedValue,
  name: 'Rollup',
  label: m.field_type_rollup,
  help: m.field_type_rollup_help,
  example: '1,250',
  storage: 'real',
  options: z.object({
    /** Id of a link field of the same table that allows several records. */
    relationFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    /** Id of a field in the related table. */
    targetFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    function: z._default(z.enum(ROLLUP_FUNCTIONS), 'count'),
    /** Displayed decimals; null: derived from the function and the target field. */
    precision: z._default(z.nullable(z.int().check(z.minimum(0), z.maximum(8))), null),
    thousands: z._default(z.boolean(), false),
  }),
  computed: 'rollup',
  parse: readNumberText,
})
