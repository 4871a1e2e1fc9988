import { z } from 'zod'
import { anyone, member, reader, router } from '../../src/trpc.ts'
import { passwordIn } from '../auth/index.ts'
import { baseRef, openInput, saveInput, targetRef } from './input.ts'
import type { SharesService } from './service.ts'

/** By field id; other keys are ignored. */
const answers = z.strictObject({ values: z.record(z.string().max(64), z.unknown()) })

/** `trpc.shares.*`: public links, for their managers and visitors. */
export const sharesRouter = (shares: SharesService) =>
  router({
    // The password is sent in a header, as in all later calls.
    open: anyone
      .input(openInput)
      .query(({ ctx: { address, request }, input }) =>
        shares.open({ ...input, password: passwordIn(request.headers), address, headers: request.headers }),
      ),
    get: member.input(targetRef).query(({ ctx, input }) => shares.get(ctx.actor, input.kind, input.targetId)),
    save: member
      .input(saveInput)
      .mutation(({ ctx, input }) => shares.save(ctx.actor, input.kind, input.targetId, input.patch)),
    regenerate: member
      .input(targetRef)
      .mutation(({ ctx, input }) => shares.regenerate(ctx.actor, input.kind, input.targetId)),
    close: member
      .input(targetRef)
      .mutation(({ ctx, input }) => shares.close(ctx.actor, input.kind, input.targetId)),
    list: member.input(baseRef).query(({ ctx, input }) => shares.list(ctx.actor, input.baseId)),
    diagram: reader.query(({ ctx }) => shares.diagram(ctx.actor)),
    submit: reader.input(answers).mutation(async ({ ctx, input }) => {
      const { address, request } = ctx
      const { setCookie, recordId } = await shares.answers.submit(ctx.actor, async () => input.values, {
        address,
        headers: request.headers,
      })
      if (setCookie !== null) ctx.responseHeaders.append('set-cookie', setCookie)
      return { recordId }
    }),
  })
