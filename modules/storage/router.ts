import { z } from 'zod'
import { member, router } from '../../src/trpc.ts'
import { MAX_HISTORY_DAYS, type StorageService } from './service.ts'

const baseRef = z.strictObject({ baseId: z.string().min(1).max(64) })

/** `trpc.storage.*`: size and retention of bases. */
export const storageRouter = (storage: StorageService) =>
  router({
    base: member.input(baseRef).query(({ ctx, input }) => storage.ofBase(ctx.actor, input.baseId)),
    bases: member.query(({ ctx }) => storage.ofServer(ctx.actor)),
    setHistoryDays: member
      .input(baseRef.extend({ days: z.int().min(0).max(MAX_HISTORY_DAYS).nullable() }))
      .mutation(({ ctx, input }) => storage.setHistoryDays(ctx.actor, input.baseId, input.days)),
    reclaim: member.input(baseRef).mutation(({ ctx, input }) => storage.reclaim(ctx.actor, input.baseId)),
  })
