import { member, router } from '../../src/trpc.ts'
import { exportInput, importInput } from './input.ts'
import type { BaseFilesService } from './service.ts'

/** `trpc.baseFiles.*`: whole bases as single files. Files to be imported come by `POST /api/internal/uploads`. */
export const baseFilesRouter = (files: BaseFilesService) =>
  router({
    export: member
      .input(exportInput)
      .mutation(({ ctx, input: { baseId, ...options } }) => files.export(ctx.actor, baseId, options)),
    import: member.input(importInput).mutation(({ ctx, input }) => files.import(ctx.actor, input)),
  })
