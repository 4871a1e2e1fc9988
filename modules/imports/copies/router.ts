import { z } from 'zod'
import { member, router } from '../../../src/trpc.ts'
import type { Copies } from './index.ts'

const id = z.string().min(1).max(64)

const options = z.strictObject({
  title: z.string().trim().min(1).max(255).optional(),
  withData: z.boolean().default(true),
  withViews: z.boolean().default(true),
})

/** `trpc.copies.*`: starts copies of bases, tables and fields. */
export const copiesRouter = (copies: Copies) =>
  router({
    base: member
      .input(z.strictObject({ baseId: id, options: options.default({ withData: true, withViews: true }) }))
      .mutation(({ ctx, input }) => copies.base(ctx.actor, input.baseId, input.options)),
    table: member
      .input(z.strictObject({ tableId: id, options: options.default({ withData: true, withViews: true }) }))
      .mutation(({ ctx, input }) => copies.table(ctx.actor, input.tableId, input.options)),
    field: member
      .input(
        z.strictObject({
          fieldId: id,
          withData: z.boolean().default(true),
          viewId: id.optional(),
          beforeFieldId: id.optional(),
        }),
      )
      .mutation(({ ctx, input: { fieldId, withData, ...place } }) =>
        copies.field(ctx.actor, fieldId, { withData, place }),
      ),
    sharedBase: member
      .input(
        z.strictObject({
          shareId: id,
          password: z.string().max(1000).nullable().default(null),
          options: options.default({ withData: true, withViews: true }),
        }),
      )
      .mutation(({ ctx, input: { shareId, password, options } }) =>
        copies.sharedBase(ctx.actor, { shareId, password, address: ctx.address }, options),
      ),
  })
