import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { type ImportProblem, importChoices } from '../../../src/core/base-imports.ts'
import { guardText } from '../../../src/core/csv/format.ts'
import type { Kernel } from '../../../src/kernel.ts'
import {
  type Description,
  describedBy,
  inputSchema,
  jsonBody,
  ok,
  outputSchema,
  queryParameters,
  REFUSED,
} from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { fileAnswer } from '../../records/index.ts'
import {
  againInput,
  beginInput,
  connectInput,
  describeInput,
  listInput,
  matchInput,
  resumeInput,
} from '../input.ts'
import type { BaseImportsService } from '../service.ts'
import type { SourceInput } from '../sources/index.ts'
import {
  basesAnswer,
  importAnswer,
  importsAnswer,
  peopleAnswer,
  personAnswer,
  reportAnswer,
  tablesAnswer,
} from './answers.ts'

const COLUMNS = ['kind', 'tableTitle', 'fieldTitle', 'viewTitle', 'recordId', 'reason', 'value'] as const
const HEADER = ['What', 'Table', 'Field', 'View', 'Record', 'Reason', 'Value']

interface Services {
  baseImports: BaseImportsService
  auth: Pick<AuthService, 'access' | 'authenticate'>
}

const REST = '/api/v2/meta/base-imports'
const ONE = `${REST}/:importId`

const beginBody = beginInput.extend({
  /** By default that of the base there. */
  title: beginInput.shape.title.optional(),
  choices: z.prefault(importChoices, {}),
})

const cancelBody = z.strictObject({ removes: z.boolean().default(false) })

const reportQuery = z.object({
  format: z.enum(['json', 'csv']).default('json'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})

const describeReport = (): Description => ({
  parameters: queryParameters(reportQuery),
  responses: {
    200: {
      description: 'OK',
      content: {
        'application/json': { schema: outputSchema(reportAnswer) },
        'text/csv': { schema: { type: 'string' } },
      },
    },
    ...REFUSED,
  },
})

/** Imports of whole bases. Credentials are part of no answer. */
export function baseImportsRest(kernel: Kernel, { baseImports, auth }: Services) {
  const detail = (summary: string, answer: z.ZodType, describe: () => Description = () => ({})) => ({
    detail: {
      summary,
      tags: ['Imports of bases'],
      ...describedBy(() => ({
        responses: { ...ok(outputSchema(answer)), 409: { $ref: '#/components/responses/Refused' } },
        ...describe(),
      })),
    },
  })
  const takes = (body: z.ZodType) => () => ({ requestBody: jsonBody(inputSchema(body)) })
  const mayTake = (body: z.ZodType) => () => ({
    requestBody: { ...jsonBody(inputSchema(body)), required: false },
  })
  const asks = (query: z.ZodObject) => () => ({ parameters: queryParameters(query) })
  return new Elysia()
    .use(restBase(kernel, auth))
    .get('/api/internal/base-imports/:importId/report', ({ actor, params }) =>
      csvReport(actor, params.importId),
    )
    .post(
      `${REST}/inspect`,
      async ({ actor, body }) => {
        const { from, ...rest } = await read(actor, connectInput, body)
        return { bases: await baseImports.inspect(actor, { ...from, ...rest }) }
      },
      detail('List the bases of a source', basesAnswer, takes(connectInput)),
    )
    .post(
      `${REST}/describe`,
      async ({ actor, body }) => {
        const { from, ...rest } = await read(actor, describeInput, body)
        return baseImports.describe(actor, { ...from, ...rest })
      },
      detail('List the tables of a base of a source', tablesAnswer, takes(describeInput)),
    )
    .post(
      REST,
      async ({ actor, body }) => {
        const { from, title, ...rest } = await read(actor, beginBody, body)
        const input = { ...from, ...rest }
        return baseImports.begin(actor, { ...input, title: title ?? (await titleOf(actor, input)) })
      },
      detail('Import a base', importAnswer, takes(beginBody)),
    )
    .get(
      REST,
      async ({ actor, query }) => {
        const { baseId } = await read(actor, listInput, query)
        return { list: await baseImports.list(actor, baseId) }
      },
      detail('List imports of bases', importsAnswer, asks(listInput)),
    )
    .get(
      ONE,
      ({ actor, params }) => baseImports.get(actor, params.importId),
      detail('The state of an import', importAnswer),
    )
    .post(
      `${ONE}/pause`,
      async ({ actor, params: { importId } }) => {
        await baseImports.pause(actor, importId)
        return baseImports.get(actor, importId)
      },
      detail('Pause an import', importAnswer),
    )
    .post(
      `${ONE}/resume`,
      async ({ actor, params, body }) => {
        const { credentials } = await read(actor, resumeInput, body)
        return baseImports.resume(actor, params.importId, credentials)
      },
      detail('Go on with an import', importAnswer, mayTake(resumeInput)),
    )
    .post(
      `${ONE}/again`,
      async ({ actor, params, body }) =>
        baseImports.again(actor, params.importId, await read(actor, againInput, body)),
      detail('Import what has changed in the source', importAnswer, mayTake(againInput)),
    )
    .post(
      `${ONE}/cancel`,
      async ({ actor, params: { importId }, body }) => {
        const { removes } = await read(actor, cancelBody, body)
        await baseImports.cancel(actor, importId, removes)
        return baseImports.get(actor, importId)
      },
      detail('Cancel an import', importAnswer, mayTake(cancelBody)),
    )
    .delete(
      `${ONE}/credentials`,
      async ({ actor, params: { importId } }) => {
        await baseImports.forgetCredentials(actor, importId)
        return baseImports.get(actor, importId)
      },
      detail('Delete the stored credentials of an import', importAnswer),
    )
    .get(
      `${ONE}/people`,
      ({ actor, params }) => baseImports.people(actor, params.importId),
      detail('The people of an import', peopleAnswer),
    )
    .post(
      `${ONE}/people`,
      async ({ actor, params: { importId }, body }) => {
        const { key, memberId } = await read(actor, matchInput, body)
        return baseImports.match(actor, importId, key, memberId)
      },
      detail('Choose the member who stands for a person', personAnswer, takes(matchInput)),
    )
    .get(
      `${ONE}/report`,
      async ({ actor, params: { importId }, query }) => {
        const { format, ...page } = await read(actor, reportQuery, query)
        return format === 'csv' ? csvReport(actor, importId) : baseImports.reportLines(actor, importId, page)
      },
      detail('The report of an import', reportAnswer, describeReport),
    )

  /** Anonymous callers are refused before what they send is checked. */
  async function read<T extends z.ZodType>(actor: Actor, schema: T, body: unknown): Promise<z.output<T>> {
    await auth.access.authorize(actor, 'account.read')
    return readBody(schema, body)
  }

  /** The title of the base there, or its id if it has none. */
  async function titleOf(actor: Actor, input: SourceInput & { sourceBaseId: string; baseId?: string }) {
    const { sourceBaseId, ...source } = input
    const found = (await baseImports.inspect(actor, source)).find(({ id }) => id === sourceBaseId)
    return (found?.title.trim() || sourceBaseId).slice(0, 255)
  }

  async function csvReport(actor: Actor, importId: string): Promise<Response> {
    const { title, lines } = await baseImports.openReport(actor, importId)
    return fileAnswer({ name: `${title}.csv`, mediaType: 'text/csv', body: csvOf(lines) })
  }
}

async function* csvOf(pages: AsyncGenerator<ImportProblem[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(`\ufeff${HEADER.join(',')}\r\n`)
  for await (const page of pages) {
    const lines = page.map((line) => COLUMNS.map((column) => quoted(line[column] ?? '')).join(','))
    yield encoder.encode(`${lines.join('\r\n')}\r\n`)
  }
}

/** A cell, quoted; one that a spreadsheet would execute is marked as text. */
const quoted = (text: string): string => `"${guardText(text).replaceAll('"', '""')}"`
