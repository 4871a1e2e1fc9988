import { z } from 'zod'
import { member, router } from '../../src/trpc.ts'
import * as input from './input.ts'
import type { RecordsService } from './service.ts'

/** Records for the web app. */
export const recordsRouter = (records: RecordsService) =>
  router({
    list: member
      .input(z.strictObject({ query: input.query }))
      .query(({ ctx, input: { query } }) => records.list(ctx.actor, query)),
    count: member
      .input(z.strictObject({ selection: input.selection }))
      .query(async ({ ctx, input: { selection } }) => ({ count: await records.count(ctx.actor, selection) })),
    get: member
      .input(input.recordRef)
      .query(({ ctx, input: { tableId, recordId } }) => records.get(ctx.actor, tableId, recordId)),
    summaries: member
      .input(input.summaryRequest)
      .query(({ ctx, input: { selection, summaries } }) =>
        records.summaries(ctx.actor, selection, summaries),
      ),
    position: member
      .input(z.strictObject({ query: input.query, recordId: input.recordId }))
      .query(async ({ ctx, input: { query, recordId } }) => ({
        offset: await records.position(ctx.actor, query, recordId),
      })),
    previewFormula: member
      .input(input.formulaPreview)
      .query(({ ctx, input: request }) => records.previewFormula(ctx.actor, request)),
    linked: member
      .input(input.linkPage)
      .query(({ ctx, input: request }) => records.linked(ctx.actor, request)),
    linkable: member
      .input(input.linkPage)
      .query(({ ctx, input: request }) => records.linkable(ctx.actor, request)),
    // tRPC keeps the name `apply` for itself.
    write: member
      .input(z.strictObject({ change: input.change }))
      .mutation(({ ctx, input: { change } }) => records.apply(ctx.actor, change)),
    deleteMatching: member
      .input(z.strictObject({ selection: input.selection }))
      .mutation(({ ctx, input: { selection } }) => records.deleteMatching(ctx.actor, selection)),
    updateMatching: member
      .input(input.matchingUpdate)
      .mutation(({ ctx, input: { selection, values } }) =>
        records.updateMatching(ctx.actor, selection, values),
      ),
    undo: member
      .input(input.baseRef)
      .mutation(({ ctx, input: { baseId } }) => records.undo(ctx.actor, baseId)),
    redo: member
      .input(input.baseRef)
      .mutation(({ ctx, input: { baseId } }) => records.redo(ctx.actor, baseId)),
    history: member
      .input(input.historyRequest)
      .query(({ ctx, input: { tableId, recordId, before } }) =>
        records.history(ctx.actor, tableId, recordId, before),
      ),
    signFiles: member
      .input(input.signRequest)
      .query(({ ctx, input: { tableId, paths } }) => records.signFiles(ctx.actor, tableId, paths)),
    formerPeople: member
      .input(input.peopleRequest)
      .query(({ ctx, input: { tableId, ids } }) => records.formerPeople(ctx.actor, tableId, ids)),
    people: member
      .input(input.baseRef)
      .query(({ ctx, input: { baseId } }) => records.people(ctx.actor, baseId)),
  })
