import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import {
  MAX_COPIED_IN_JOB,
  MAX_COPIED_RECORDS,
  type RecordCopy,
  type RecordCopyPreview,
} from '../../../src/core/record-copies.ts'
import { MAX_COPIED_TABLES } from '../../../src/core/table-copies.ts'
import { timeZone } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { describedBy, inputSchema, jsonBody, ok, outputSchema } from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { BasesService } from '../../bases/index.ts'
import { readFieldPosition, type SchemaReader } from '../../schema/index.ts'
import type { Copies } from '../copies/index.ts'

const flag = wireFlag.nullish()

/** Comments are never copied. */
const options = z
  .strictObject(
    { excludeData: flag, excludeViews: flag, excludeHooks: flag, excludeComments: flag },
    {
      error: ({ code, keys }) =>
        code === 'unrecognized_keys'
          ? m.copies_error_unknown_option({ options: (keys as string[]).join(', ') })
          : undefined,
    },
  )
  .nullish()
const CopyBody = z.object({
  options,
  base: z.object({ title: z.string().max(255).optional() }).nullish(),
})
const ToBaseBody = z.strictObject({
  baseId: z.string().min(1).max(64),
  title: z.string().trim().min(1).max(255).optional(),
  withData: z.boolean().optional(),
  withViews: z.boolean().optional(),
  withComments: z.boolean().optional(),
  withHooks: z.boolean().optional(),
  withHistory: z.boolean().optional(),
  tables: z.array(z.string().min(1).max(64)).max(MAX_COPIED_TABLES).optional(),
  move: z.boolean().optional(),
})
/** Fields are named by their ids or titles. */
const fieldName = z.string().min(1).max(255)
const RecordsBody = z.strictObject({
  targetTableId: z.string().min(1).max(64),
  ids: z
    .array(z.union([z.int(), z.string().min(1).max(255)]))
    .min(1)
    .max(MAX_COPIED_IN_JOB, { error: () => m.copies_error_too_many_records({ max: MAX_COPIED_IN_JOB }) }),
  mapping: z.record(fieldName, fieldName.nullable()).optional(),
  move: z.boolean().optional(),
  timeZone,
})
const RecordsPreviewBody = RecordsBody.extend({
  ids: RecordsBody.shape.ids.check(
    z.maxLength(MAX_COPIED_RECORDS, {
      error: () => m.copies_error_too_many_records({ max: MAX_COPIED_RECORDS }),
    }),
  ),
})
const TableBody = z.object({ title: z.string().max(255).optional(), options })
/** `extra` holds the copy's place, as for a new column. */
const ColumnBody = z.object({ options, extra: z.record(z.string(), z.unknown()).nullish() })

/** The job of a copy. */
const CopyAnswer = z.object({ id: z.string() })
const BaseCopyAnswer = CopyAnswer.extend({ base_id: z.string() })
const ToBaseAnswer = CopyAnswer.extend({
  table_id: z.string(),
  tables: z.array(z.object({ from_id: z.string(), table_id: z.string() })),
})

const StartedAnswer = z.object({ jobId: z.string() }).describe('Of a job, for many records')
const refusedValues = z.array(
  z.object({
    fieldId: z.string(),
    title: z.string(),
    count: z.int(),
    examples: z.array(z.object({ value: z.string(), reason: z.string() })),
  }),
)
const copyField = z.object({ id: z.string(), title: z.string(), holdsFiles: z.boolean() })
const RecordsPreviewAnswer: z.ZodType<RecordCopyPreview> = z.object({
  targets: z
    .array(
      copyField.extend({
        required: z.boolean(),
        sourceId: z.string().nullable().describe('The field that fills it; null: it gets its default'),
      }),
    )
    .describe('The fields that can be filled'),
  sources: z.array(copyField).describe('The fields that can fill them'),
  left: z.array(z.string()).describe('Fields of the source that people fill and that are not copied'),
  refused: refusedValues,
  missing: z
    .array(z.object({ title: z.string(), count: z.int() }))
    .describe('Required fields, and how many records have no value for them: nothing can be copied then'),
})
const CopiedAnswer: z.ZodType<RecordCopy> = z.object({
  ids: z.array(z.union([z.number(), z.string()])).describe('The new records, in the order of the originals'),
  refused: refusedValues,
  deleted: z.int().describe('Originals that were moved to the trash'),
  kept: z
    .object({ count: z.int(), reason: z.string() })
    .nullable()
    .describe('Originals that a move left in place, and why'),
})

const describeCopy = (summary: string, body: z.ZodType, answer: z.ZodType, { required = false } = {}) => ({
  summary,
  tags: ['Copies'],
  ...describedBy(() => ({
    requestBody: { ...jsonBody(inputSchema(body)), required },
    responses: ok(outputSchema(answer)),
  })),
})

/** Copies of bases, tables and columns (wire §13.3). */
export function copiesRest(
  kernel: Kernel,
  {
    copies,
    bases,
    schema,
    auth,
  }: { copies: Copies; bases: BasesService; schema: SchemaReader; auth: Authenticator },
) {
  const app = new Elysia({ name: 'copies-rest' }).use(restBase(kernel, auth))
  for (const prefix of ['/api/v1/db/meta', '/api/v2/meta']) {
    app
      .post(`${prefix}/duplicate/:baseId`, ({ actor, params, body }) => copy(actor, params.baseId, body), {
        detail: describeCopy('Copy a base', CopyBody, BaseCopyAnswer),
      })
      .post(
        `${prefix}/duplicate/:baseId/:sourceId`,
        async ({ actor, params, body }) => {
          const { id: baseId } = await bases.enter(actor, 'base.duplicate', params.baseId)
          const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
          if (!sources.some(({ id }) => id === params.sourceId)) {
            throw notFound('Source', params.sourceId.slice(0, 64))
          }
          return copy(actor, baseId, body)
        },
        { detail: describeCopy('Copy a base with this source', CopyBody, BaseCopyAnswer) },
      )
      .post(
        `${prefix}/duplicate/:baseId/table/:tableId`,
        async ({ actor, params, body }) => {
          const { table } = await schema.openTableToCopy(actor, params.tableId)
          await requireIn(actor, params.baseId, table, notFound('Table', params.tableId.slice(0, 64)))
          const { title, options } = readBody(TableBody, body)
          const { jobId } = await copies.table(actor, table.id, {
            ...(title && { title }),
            ...partsOf(options),
          })
          return { id: jobId }
        },
        { detail: describeCopy('Copy a table', TableBody, CopyAnswer) },
      )
      .post(
        `${prefix}/duplicate/:baseId/column/:columnId`,
        async ({ actor, params, body }) => {
          const { model, field } = await openColumn(actor, params.columnId)
          await requireIn(actor, params.baseId, model.table, unknownColumn())
          const { options, extra } = readBody(ColumnBody, body)
          const place = readFieldPosition(extra?.column_order)
          const { jobId } = await copies.field(actor, field.id, { ...partsOf(options), place })
          return { id: jobId }
        },
        { detail: describeCopy('Copy a field', ColumnBody, CopyAnswer) },
      )
  }
  return app
    .get(
      '/api/v2/meta/tables/:tableId/copy',
      ({ actor, params, query }) =>
        copies.previewToBase(actor, {
          tableId: params.tableId,
          furtherTableIds: query.tables?.split(',').filter((tableId) => tableId !== ''),
          isMove: query.move === 'true',
        }),
      { detail: { summary: 'Preview the copy of a table in another base' } },
    )
    .post(
      '/api/v2/meta/tables/:tableId/copy',
      async ({ actor, params, body }) => {
        // Access is checked before the body.
        await schema.openTable(actor, 'record.export', params.tableId)
        const { move, tables: furtherTableIds, ...wanted } = readBody(ToBaseBody, body)
        const { jobId, tableId, tables } = await copies.tableToBase(actor, params.tableId, {
          ...wanted,
          furtherTableIds,
          isMove: move,
        })
        return {
          id: jobId,
          table_id: tableId,
          tables: tables.map(({ id, newId }) => ({ from_id: id, table_id: newId })),
        }
      },
      {
        detail: describeCopy('Copy or move a table to another base', ToBaseBody, ToBaseAnswer, {
          required: true,
        }),
      },
    )
    .post(
      '/api/v2/tables/:tableId/records/copy',
      async ({ actor, params: { tableId }, body }) => {
        // Access is checked before the body.
        await schema.openTable(actor, 'record.list', tableId)
        const { ids, move, ...wanted } = readBody(RecordsBody, body)
        const request = { ...wanted, tableId, recordIds: ids, isMove: move }
        return ids.length > MAX_COPIED_RECORDS
          ? copies.records.start(actor, request)
          : copies.records.copy(actor, request)
      },
      {
        detail: {
          ...describeCopy(
            'Copy or move records to another table',
            RecordsBody,
            z.union([CopiedAnswer, StartedAnswer]),
            { required: true },
          ),
          tags: ['Records'],
        },
      },
    )
    .post(
      '/api/v2/tables/:tableId/records/copy/preview',
      async ({ actor, params: { tableId }, body }) => {
        // Access is checked before the body.
        await schema.openTable(actor, 'record.list', tableId)
        const { ids, move, ...wanted } = readBody(RecordsPreviewBody, body)
        return copies.records.preview(actor, { ...wanted, tableId, recordIds: ids, isMove: move })
      },
      {
        detail: {
          ...describeCopy(
            'Preview a copy or move of records to another table',
            RecordsPreviewBody,
            RecordsPreviewAnswer,
            { required: true },
          ),
          tags: ['Records'],
        },
      },
    )

  async function copy(actor: Actor, id: string, body: unknown) {
    await bases.enter(actor, 'base.duplicate', id)
    const { options, base } = readBody(CopyBody, body)
    const wanted = { ...(base?.title && { title: base.title }), ...partsOf(options) }
    const { jobId, baseId } = await copies.base(actor, id, wanted)
    return { id: jobId, base_id: baseId }
  }

  /** @throws BAD_REQUEST `Column not found!`, as clients expect, for an unknown column */
  async function openColumn(actor: Actor, columnId: string) {
    try {
      return await schema.openFieldToCopy(actor, columnId)
    } catch (error) {
      throw error instanceof AppError && error.code === 'FIELD_NOT_FOUND' ? unknownColumn() : error
    }
  }

  /** @throws BASE_NOT_FOUND; `missing` for a table of another base */
  async function requireIn(actor: Actor, idOrTitle: string, table: Table, missing: AppError): Promise<void> {
    const base = await schema.resolveBase(actor, idOrTitle)
    if (base.id !== table.baseId) throw missing
  }
}

const unknownColumn = (): AppError => badRequest('Column not found!')

const partsOf = (given: z.output<typeof options>) => ({
  withData: given?.excludeData !== true,
  withViews: given?.excludeViews !== true,
  withHooks: given?.excludeHooks !== true,
})
