import { member, router } from '../../src/trpc.ts'
import { IndexRef, IndexTerms, TableRef, ViewRef } from './input.ts'
import type { IndexesService } from './service.ts'

/** `trpc.indexes.*`: the indexes of a table, and how its views are read. */
export const indexesRouter = (indexes: IndexesService) =>
  router({
    list: member.input(TableRef).query(({ ctx, input }) => indexes.list(ctx.actor, input.tableId)),
    performance: member
      .input(TableRef)
      .query(({ ctx, input }) => indexes.performance(ctx.actor, input.tableId)),
    measure: member
      .input(ViewRef)
      .query(({ ctx, input }) => indexes.measure(ctx.actor, input.tableId, input.viewId)),
    create: member
      .input(TableRef.extend({ terms: IndexTerms }))
      .mutation(({ ctx, input }) => indexes.create(ctx.actor, input.tableId, input.terms)),
    drop: member
      .input(IndexRef)
      .mutation(({ ctx, input }) => indexes.drop(ctx.actor, input.tableId, input.indexId)),
  })
