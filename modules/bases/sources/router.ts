import { member, router } from '../../../src/trpc.ts'
import type { BasesService } from '../service.ts'
import { describeSource } from './describe.ts'
import { CreateSourceInput, SourceRef, TestInput, UpdateSourceInput } from './input.ts'

const BaseRef = SourceRef.pick({ baseId: true })

/** `trpc.sources.*`: the databases of a base. What is in them is `trpc.schema`. */
export const sourcesRouter = ({ sources }: BasesService) =>
  router({
    list: member
      .input(BaseRef)
      .query(async ({ ctx, input }) =>
        (await sources.list(ctx.actor, input.baseId)).map((row) =>
          describeSource(row, sources.connectionOf(row)),
        ),
      ),
    test: member
      .input(TestInput)
      .mutation(({ ctx, input: { baseId, sourceId, ...sent } }) =>
        sources.test(ctx.actor, baseId, sent, sourceId),
      ),
    inspect: member
      .input(TestInput)
      .mutation(({ ctx, input: { baseId, sourceId, ...sent } }) =>
        sources.inspect(ctx.actor, baseId, sent, sourceId),
      ),
    create: member
      .input(CreateSourceInput)
      .mutation(({ ctx, input: { baseId, ...source } }) => sources.create(ctx.actor, baseId, source)),
    update: member
      .input(UpdateSourceInput)
      .mutation(async ({ ctx, input: { baseId, sourceId, ...patch } }) => {
        const row = await sources.update(ctx.actor, baseId, sourceId, patch)
        return describeSource(row, sources.connectionOf(row))
      }),
    delete: member
      .input(SourceRef)
      .mutation(({ ctx, input }) => sources.delete(ctx.actor, input.baseId, input.sourceId)),
  })
