import { member, router } from '../../src/trpc.ts'
import { ActivityRequest, AuditLogRequest, EntryRequest } from './input.ts'
import type { ActivityService } from './service.ts'

/** `trpc.activity.*`: what was done in a base, and the audit log of the server. */
export const activityRouter = (activity: ActivityService) =>
  router({
    list: member
      .input(ActivityRequest)
      .query(({ ctx, input: { direction: _, ...request } }) => activity.list(ctx.actor, request)),
    log: member
      .input(AuditLogRequest)
      .query(({ ctx, input: { direction: _, ...request } }) => activity.log(ctx.actor, request)),
    entry: member
      .input(EntryRequest)
      .query(({ ctx, input: { direction: _, ...request } }) => activity.entry(ctx.actor, request)),
  })
