import { z } from 'zod'
import { filterSchema } from '../../src/core/filters/index.ts'
import { MAX_WIDTH, MIN_WIDTH } from './model.ts'

const MAX_SORTS = 50
const MAX_ARRANGED = 1000

const id = z.string().min(1).max(64)
const title = z.string().max(1000)
const meta = z
  .record(z.string().max(64), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 100_000, { error: 'This is too much to keep' })

const sort = z.strictObject({ id: id.optional(), fieldId: id, direction: z.enum(['asc', 'desc']) })

/** The heights that rows can have. */
export const rowHeights = z.enum(['short', 'medium', 'tall', 'extra'])

/** A view by its id. */
export const viewRef = z.strictObject({ viewId: id })
/** A new view of a table. */
export const createViewInput = z.strictObject({ tableId: id, title, kind: z.enum(['grid']) })
/** A view and the one it goes ahead of; null: to the end. */
export const reorderViewInput = z.strictObject({ viewId: id, before: id.nullable() })
/** What of a view changes; what is absent stays. */
export const updateViewInput = z.strictObject({
  viewId: id,
  patch: z.strictObject({
    title: title.optional(),
    rowHeight: rowHeights.optional(),
    frozen: z.int().min(1).max(50).optional(),
    filter: filterSchema.nullable().optional(),
    sorts: z.array(sort).max(MAX_SORTS).optional(),
    meta: meta.optional(),
  }),
})
/** What changes about any number of a view’s fields. */
export const arrangeInput = z.strictObject({
  viewId: id,
  fields: z
    .array(
      z.strictObject({
        fieldId: id,
        show: z.boolean().optional(),
        order: z.number().optional(),
        width: z.int().min(MIN_WIDTH).max(MAX_WIDTH).optional(),
        summary: z.string().max(64).nullable().optional(),
      }),
    )
    .min(1)
    .max(MAX_ARRANGED),
})
