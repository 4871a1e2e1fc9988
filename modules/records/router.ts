import { z } from 'zod'
import { member, reader, router } from '../../src/trpc.ts'
import * as input from './input.ts'
import type { RecordsService } from './service.ts'

/** Records for the web app. */
export const recordsRouter = (records: RecordsService) =>
  router({
    list: reader
      .input(z.strictObject({ query: input.query }))
      .query(({ ctx, input: { query } }) => records.list(ctx.actor, query)),
    count: reader
      .input(z.strictObject({ selection: input.selection }))
      .query(async ({ ctx, input: { selection } }) => ({ count: await records.count(ctx.actor, selection) })),
    get: reader
      .input(input.recordRef)
      .query(({ ctx, input: { tableId, recordId, timeZone } }) =>
        records.get(ctx.actor, tableId, recordId, timeZone),
      ),
    summaries: reader
      .input(input.summaryRequest)
      .query(({ ctx, input: { selection, summaries } }) =>
        records.summaries(ctx.actor, selection, summaries),
      ),
    groups: reader
      .input(z.strictObject({ request: input.groupRequest }))
      .query(({ ctx, input: { request } }) => records.groups(ctx.actor, request)),
    position: reader
      .input(z.strictObject({ query: input.query, recordId: input.recordId }))
      .query(async ({ ctx, input: { query, recordId } }) => ({
        offset: await records.position(ctx.actor, query, recordId),
      })),
    positions: reader
      .input(z.strictObject({ query: input.query, recordIds: z.array(input.recordId).max(1000) }))
      .query(async ({ ctx, input: { query, recordIds } }) => ({
        places: await records.positions(ctx.actor, query, recordIds),
      })),
    previewFormula: member
      .input(input.formulaPreview)
      .query(({ ctx, input: request }) => records.previewFormula(ctx.actor, request)),
    linked: reader
      .input(input.linkPage)
      .query(({ ctx, input: request }) => records.linked(ctx.actor, request)),
    linkable: reader
      .input(input.linkPage)
      .query(({ ctx, input: request }) => records.linkable(ctx.actor, request)),
    search: member
      .input(input.baseSearch)
      .query(({ ctx, input: request }) => records.search(ctx.actor, request)),
    export: member.input(input.exportRequest).mutation(({ ctx, input: request }) => {
      const { format, title, fieldIds, isGuarded, delimiter, ...query } = request
      const options = { isGuarded, delimiter }
      return records.exports.start(ctx.actor, { query, format, title, fieldIds, options })
    }),
    exportBase: member.input(input.baseExport).mutation(({ ctx, input: request }) => {
      const { isGuarded, delimiter, ...wanted } = request
      return records.exports.startBase(ctx.actor, { ...wanted, options: { isGuarded, delimiter } })
    }),
    // tRPC keeps the name `apply` for itself.
    write: reader
      .input(z.strictObject({ change: input.change }))
      .mutation(({ ctx, input: { change } }) => records.apply(ctx.actor, change)),
    effectsOfDeletion: reader
      .input(z.strictObject({ selection: input.selection }))
      .query(({ ctx, input: { selection } }) => records.effectsOfDeletion(ctx.actor, selection)),
    deleteMatching: reader
      .input(input.matchingDeletion)
      .mutation(({ ctx, input: { selection, clientId } }) =>
        records.deleteMatching(ctx.actor, selection, clientId),
      ),
    updateMatching: reader
      .input(input.matchingUpdate)
      .mutation(({ ctx, input: { selection, values, clientId } }) =>
        records.updateMatching(ctx.actor, selection, values, clientId),
      ),
    nextAction: member
      .input(input.nextAction)
      .query(({ ctx, input: { baseId, direction, ...scope } }) =>
        records.nextAction(ctx.actor, baseId, direction, scope),
      ),
    actions: member
      .input(input.actionsRequest)
      .query(({ ctx, input: { cursor, direction: _, ...request } }) =>
        records.actions(ctx.actor, { ...request, before: cursor }),
      ),
    undo: member
      .input(input.actionRef)
      .mutation(({ ctx, input: { baseId, entryId } }) => records.undo(ctx.actor, baseId, entryId)),
    redo: member
      .input(input.actionRef)
      .mutation(({ ctx, input: { baseId, entryId } }) => records.redo(ctx.actor, baseId, entryId)),
    cancelWork: member
      .input(input.workRef)
      .mutation(({ ctx, input: { baseId, workId } }) => records.cancelWork(ctx.actor, baseId, workId)),
    baseContents: member
      .input(input.baseRef)
      .query(({ ctx, input: { baseId } }) => records.baseContents(ctx.actor, baseId)),
    deleteViewForever: member
      .input(input.deletedView)
      .mutation(({ ctx, input: { baseId, entryId } }) =>
        records.deleteViewForever(ctx.actor, baseId, entryId),
      ),
    deletedViews: member
      .input(input.baseRef)
      .query(({ ctx, input: { baseId } }) => records.deletedViews(ctx.actor, baseId)),
    trash: member
      .input(input.trashRequest)
      .query(({ ctx, input: { cursor, direction: _, ...request } }) =>
        records.trash.list(ctx.actor, { ...request, after: cursor }),
      ),
    trashCounts: member
      .input(input.baseRef)
      .query(({ ctx, input: { baseId } }) => records.trash.counts(ctx.actor, baseId)),
    restoreTrashed: member
      .input(input.trashRestore)
      .mutation(({ ctx, input: selection }) => records.trash.restore(ctx.actor, selection)),
    purgeTrashed: member
      .input(input.trashPurge)
      .mutation(({ ctx, input: selection }) => records.trash.purge(ctx.actor, selection)),
    previewRevert: member
      .input(input.revertPreview)
      .query(({ ctx, input: { baseId, entryId, timeZone } }) =>
        records.previewUndo(ctx.actor, baseId, entryId, timeZone),
      ),
    revert: member
      .input(input.namedAction)
      .mutation(({ ctx, input: { baseId, entryId } }) =>
        records.undo(ctx.actor, baseId, entryId, { keepsChanged: true }),
      ),
    previewRecordVersion: member
      .input(input.recordVersion)
      .query(({ ctx, input: version }) => records.recordRestore.preview(ctx.actor, version)),
    restoreRecordVersion: member
      .input(input.recordVersion)
      .mutation(({ ctx, input: version }) => records.recordRestore.restore(ctx.actor, version)),
    previewTableRestore: member
      .input(input.tableRestore)
      .query(({ ctx, input: moment }) => records.tableRestore.preview(ctx.actor, moment)),
    restoreTable: member
      .input(input.tableRestore)
      .mutation(({ ctx, input: moment }) => records.tableRestore.restore(ctx.actor, moment)),
    history: member
      .input(input.historyRequest)
      .query(({ ctx, input: { tableId, recordId, cursor } }) =>
        records.history(ctx.actor, tableId, recordId, cursor ?? undefined),
      ),
    signFiles: reader
      .input(input.signRequest)
      .query(({ ctx, input: { tableId, paths } }) => records.signFiles(ctx.actor, tableId, paths)),
    keepPicture: member
      .input(input.pictureRequest)
      .mutation(({ ctx, input: { tableId, path } }) => records.keepPicture(ctx.actor, tableId, path)),
    formerPeople: reader
      .input(input.peopleRequest)
      .query(({ ctx, input: { tableId, ids } }) => records.formerPeople(ctx.actor, tableId, ids)),
    people: reader
      .input(input.baseRef)
      .query(({ ctx, input: { baseId } }) => records.people(ctx.actor, baseId)),
  })
