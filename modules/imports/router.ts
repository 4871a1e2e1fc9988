import { z } from 'zod'
import { MAX_COPIED_IN_JOB, MAX_COPIED_RECORDS } from '../../src/core/record-copies.ts'
import { MAX_COPIED_TABLES } from '../../src/core/table-copies.ts'
import { timeZone } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'
import { member, router } from '../../src/trpc.ts'
import type { Copies } from './copies/index.ts'
import {
  fetchUrlInput,
  matchTablesInput,
  missingNamesInput,
  startAllInput,
  startInput,
  unfinishedInput,
} from './input.ts'
import type { ImportsService } from './service.ts'

const jobRef = z.strictObject({ jobId: z.string().min(1).max(64) })

/** Imports for the web app. Files come by `POST /api/internal/uploads`. */
export const importsRouter = (imports: ImportsService) =>
  router({
    start: member.input(startInput).mutation(({ ctx, input }) => imports.start(ctx.actor, input)),
    startAll: member.input(startAllInput).mutation(({ ctx, input }) => imports.startAll(ctx.actor, input)),
    target: member
      .input(z.strictObject({ tableId: z.string().min(1).max(64) }))
      .query(({ ctx, input }) => imports.target(ctx.actor, input.tableId)),
    missingNames: member
      .input(missingNamesInput)
      .query(({ ctx, input }) => imports.missingNames(ctx.actor, input)),
    matchTables: member
      .input(matchTablesInput)
      .query(({ ctx, input }) => imports.matchTables(ctx.actor, input)),
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
    cancel: member
      .input(jobRef.extend({ group: z.boolean().default(false) }))
      .mutation(({ ctx, input }) => jobs.cancel(ctx.actor, input.jobId, input.group)),
  })

const id = z.string().min(1).max(64)

const copyOptions = z.strictObject({
  title: z.string().trim().min(1).max(255).optional(),
  withData: z.boolean().default(true),
  withViews: z.boolean().default(true),
  withHooks: z.boolean().default(true),
})

const idsOfRecords = (max: number) =>
  z
    .array(z.union([z.int(), z.string().min(1).max(255)]))
    .min(1)
    .max(max, { error: () => m.copies_error_too_many_records({ max }) })

const recordCopy = z.strictObject({
  tableId: id,
  recordIds: idsOfRecords(MAX_COPIED_RECORDS),
  targetTableId: id,
  mapping: z.record(id, id.nullable()).optional(),
  timeZone,
})

const tableIds = z.array(id).max(MAX_COPIED_TABLES)

/** `trpc.copies.*`: copies of bases, tables, fields and records. */
export const copiesRouter = (copies: Copies) =>
  router({
    base: member
      .input(z.strictObject({ baseId: id, options: copyOptions.prefault({}) }))
      .mutation(({ ctx, input }) => copies.base(ctx.actor, input.baseId, input.options)),
    table: member
      .input(z.strictObject({ tableId: id, options: copyOptions.prefault({}) }))
      .mutation(({ ctx, input }) => copies.table(ctx.actor, input.tableId, input.options)),
    previewToBase: member
      .input(
        z.strictObject({ tableId: id, furtherTableIds: tableIds.optional(), isMove: z.boolean().optional() }),
      )
      .query(({ ctx, input }) => copies.previewToBase(ctx.actor, input)),
    tableToBase: member
      .input(
        z.strictObject({
          tableId: id,
          furtherTableIds: tableIds.optional(),
          baseId: id,
          title: z.string().trim().min(1).max(255).optional(),
          withData: z.boolean().default(true),
          withViews: z.boolean().default(true),
          withComments: z.boolean().optional(),
          withHooks: z.boolean().optional(),
          withHistory: z.boolean().optional(),
          isMove: z.boolean().default(false),
        }),
      )
      .mutation(({ ctx, input: { tableId, ...options } }) => copies.tableToBase(ctx.actor, tableId, options)),
    // A mutation, because a thousand ids do not fit into the address of a batch of queries.
    previewRecords: member
      .input(recordCopy)
      .mutation(({ ctx, input }) => copies.records.preview(ctx.actor, input)),
    records: member
      .input(recordCopy.extend({ isMove: z.boolean().default(false) }))
      .mutation(({ ctx, input }) => copies.records.copy(ctx.actor, input)),
    /** As a job, for more of them. */
    manyRecords: member
      .input(
        recordCopy.extend({
          recordIds: idsOfRecords(MAX_COPIED_IN_JOB),
          isMove: z.boolean().default(false),
        }),
      )
      .mutation(({ ctx, input }) => copies.records.start(ctx.actor, input)),
    field: member
      .input(
        z.strictObject({
          fieldId: id,
          withData: z.boolean().default(true),
          viewId: id.optional(),
          beforeFieldId: id.optional(),
        }),
      )
      .mutation(({ ctx, input: { fieldId, withData, ...place } }) =>
        copies.field(ctx.actor, fieldId, { withData, place }),
      ),
    sharedBase: member
      .input(
        z.strictObject({
          shareId: id,
          password: z.string().max(1000).nullable().default(null),
          options: copyOptions.prefault({}),
        }),
      )
      .mutation(({ ctx, input: { shareId, password, options } }) =>
        copies.sharedBase(ctx.actor, { shareId, password, address: ctx.address }, options),
      ),
  })
