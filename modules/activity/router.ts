import { member, router } from '../../src/trpc.ts'
import { ActivityRequest, EntryRequest } from './input.ts'
import type { ActivityService } from './service.ts'

/** `trpc.activity.*`: what was done in a base. */
export const activityRouter = (activity: ActivityService) =>
  router({
    list: member
      .input(ActivityRequest)
      .query(({ ctx, input: { direction: _, ...request } }) => activity.list(ctx.actor, request)),
    entry: member
      .input(EntryRequest)
      .query(({ ctx, input: { direction: _, ...request } }) => activity.entry(ctx.actor, request)),
  })
