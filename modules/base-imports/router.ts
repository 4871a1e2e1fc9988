import { z } from 'zod'
import { member, router } from '../../src/trpc.ts'
import {
  againInput,
  beginInput,
  connectInput,
  describeInput,
  importRef,
  listInput,
  matchInput,
  resumeInput,
} from './input.ts'
import type { BaseImportsService } from './service.ts'

/** `trpc.baseImports.*`: imports of whole bases. Calls that carry credentials are mutations. */
export const baseImportsRouter = (imports: BaseImportsService) =>
  router({
    inspect: member
      .input(connectInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.inspect(ctx.actor, { ...from, ...rest })),
    describe: member
      .input(describeInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.describe(ctx.actor, { ...from, ...rest })),
    begin: member
      .input(beginInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.begin(ctx.actor, { ...from, ...rest })),
    get: member.input(importRef).query(({ ctx, input }) => imports.get(ctx.actor, input.importId)),
    list: member.input(listInput).query(({ ctx, input }) => imports.list(ctx.actor, input.baseId)),
    report: member.input(importRef).query(({ ctx, input }) => imports.report(ctx.actor, input.importId)),
    people: member.input(importRef).query(({ ctx, input }) => imports.people(ctx.actor, input.importId)),
    match: member
      .input(importRef.extend(matchInput.shape))
      .mutation(({ ctx, input: { importId, key, memberId } }) =>
        imports.match(ctx.actor, importId, key, memberId),
      ),
    pause: member.input(importRef).mutation(({ ctx, input }) => imports.pause(ctx.actor, input.importId)),
    resume: member
      .input(importRef.extend(resumeInput.shape))
      .mutation(({ ctx, input }) => imports.resume(ctx.actor, input.importId, input.credentials)),
    again: member
      .input(importRef.extend(againInput.shape))
      .mutation(({ ctx, input: { importId, ...rest } }) => imports.again(ctx.actor, importId, rest)),
    cancel: member
      .input(importRef.extend({ removes: z.boolean() }))
      .mutation(({ ctx, input }) => imports.cancel(ctx.actor, input.importId, input.removes)),
    forgetCredentials: member
      .input(importRef)
      .mutation(({ ctx, input }) => imports.forgetCredentials(ctx.actor, input.importId)),
  })
