import { member, router } from '../../src/trpc.ts'
import { baseRef, days, emptied, filter, items, listed, listedOfAll } from './input.ts'
import type { TrashService } from './service.ts'

/** `trpc.trash.*` */
export const trashRouter = (trash: TrashService) =>
  router({
    list: member
      .input(listed)
      .query(({ ctx, input: { baseId, direction: _, ...page } }) => trash.list(ctx.actor, baseId, page)),
    listAll: member
      .input(listedOfAll)
      .query(({ ctx, input: { direction: _, ...page } }) => trash.listAll(ctx.actor, page)),
    /** The people of all bases. */
    people: member.query(({ ctx }) => trash.people(ctx.actor)),
    restore: member
      .input(baseRef.extend({ items }))
      .mutation(({ ctx, input }) => trash.restore(ctx.actor, input.baseId, input.items)),
    purge: member
      .input(baseRef.extend({ items }))
      .mutation(({ ctx, input }) => trash.purge(ctx.actor, input.baseId, input.items)),
    empty: member
      .input(filter.extend({ baseId: baseRef.shape.baseId }))
      .mutation(({ ctx, input: { baseId, ...which } }) => trash.empty(ctx.actor, baseId, which)),
    emptyAll: member.input(emptied).mutation(({ ctx, input }) => trash.emptyAll(ctx.actor, input)),
    retention: member.input(baseRef).query(({ ctx, input }) => trash.retention(ctx.actor, input.baseId)),
    setRetention: member
      .input(baseRef.extend({ days }))
      .mutation(({ ctx, input }) => trash.setRetention(ctx.actor, input.baseId, input.days)),
    bases: member.query(({ ctx }) => trash.bases(ctx.actor)),
    restoreBase: member
      .input(baseRef)
      .mutation(({ ctx, input }) => trash.restoreBase(ctx.actor, input.baseId)),
    purgeBase: member.input(baseRef).mutation(({ ctx, input }) => trash.purgeBase(ctx.actor, input.baseId)),
  })
