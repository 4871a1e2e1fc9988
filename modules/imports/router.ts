import { z } from 'zod'
import { member, router } from '../../src/trpc.ts'
import { fetchUrlInput, missingNamesInput, startInput, unfinishedInput } from './input.ts'
import type { ImportsService } from './service.ts'

const jobRef = z.strictObject({ jobId: z.string().min(1).max(64) })

/** Imports for the web app. Files come by `POST /api/internal/uploads`. */
export const importsRouter = (imports: ImportsService) =>
  router({
    start: member.input(startInput).mutation(({ ctx, input }) => imports.start(ctx.actor, input)),
    missingNames: member
      .input(missingNamesInput)
      .query(({ ctx, input }) => imports.missingNames(ctx.actor, input)),
    fetchUrl: member
      .input(fetchUrlInput)
      .mutation(({ ctx, input }) => imports.fetchUrl(ctx.actor, input.url)),
  })

/** Work that runs beside the requests. */
export const jobsRouter = ({ jobs }: ImportsService) =>
  router({
    get: member.input(jobRef).query(({ ctx, input }) => jobs.get(ctx.actor, input.jobId)),
    unfinished: member
      .input(unfinishedInput)
      .query(({ ctx, input }) => jobs.unfinished(ctx.actor, input?.pageAgeMs)),
    cancel: member.input(jobRef).mutation(({ ctx, input }) => jobs.cancel(ctx.actor, input.jobId)),
  })
