import { z } from 'zod'

const id = z.string().min(1).max(64)

export const TableRef = z.strictObject({ tableId: id })
export const ViewRef = z.strictObject({ tableId: id, viewId: id })
export const IndexRef = z.strictObject({ tableId: id, indexId: id })

/** The terms of an index: at most as many as the planner asks for. */
export const IndexTerms = z
  .array(
    z.strictObject({
      fieldId: id,
      /** `group`: as groups tell values apart; empty text counts as none. */
      as: z.enum(['value', 'group']).default('value'),
      direction: z.enum(['asc', 'desc']).default('asc'),
    }),
  )
  .min(1)
  .max(8)
