import { member, router } from '../../src/trpc.ts'
import {
  arrangeInput,
  createViewInput,
  hideViewInput,
  reorderViewInput,
  updateViewInput,
  viewRef,
} from './input.ts'
import type { ViewsService } from './service.ts'

/** Views for the web app; it reads them with their table (`schema.table`). */
export const viewsRouter = (views: ViewsService) =>
  router({
    create: member
      .input(createViewInput)
      .mutation(({ ctx, input: { tableId, ...view } }) => views.create(ctx.actor, tableId, view)),
    duplicate: member.input(viewRef).mutation(({ ctx, input }) => views.duplicate(ctx.actor, input.viewId)),
    update: member.input(updateViewInput).mutation(({ ctx, input: { viewId, patch } }) => {
      const { ownerId: ownedBy, ...rest } = patch
      return views.update(ctx.actor, viewId, { ...rest, ...(ownedBy !== undefined && { ownedBy }) })
    }),
    arrange: member
      .input(arrangeInput)
      .mutation(({ ctx, input }) => views.arrange(ctx.actor, input.viewId, input.fields)),
    hide: member
      .input(hideViewInput)
      .mutation(({ ctx, input }) => views.hide(ctx.actor, input.viewId, input.from)),
    reorder: member
      .input(reorderViewInput)
      .mutation(({ ctx, input }) => views.reorder(ctx.actor, input.viewId, input.before)),
    delete: member.input(viewRef).mutation(({ ctx, input }) => views.delete(ctx.actor, input.viewId)),
  })
