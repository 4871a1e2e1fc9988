import { Elysia } from 'elysia'
import { z } from 'zod'
import { parseConnectionUrl } from '../../../src/core/connection-url.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { wholeListInfo } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../service.ts'
import { type ConnectionTest, isSupported } from '../sources/read-connection.ts'
import { SentConnection } from '../sources/router.ts'
import { presentSource } from './present.ts'

const OptionalFlag = wireFlag.nullish()
const Inflection = z.enum(['none', 'camelize']).nullish().catch(null)

const PatchBody = z.object({
  alias: plainText(255).nullish(),
  config: SentConnection.nullish(),
  enabled: OptionalFlag,
  is_schema_readonly: OptionalFlag,
  is_data_readonly: OptionalFlag,
})
/** A source as clients create it. */
export const NewSourceBody = PatchBody.extend({
  type: z.string().max(64).nullish(),
  inflection_table: Inflection,
  inflection_column: Inflection,
})
const TestBody = SentConnection.extend({ base_id: z.string().max(64).nullish() })
const UrlBody = z.object({ url: z.string().max(8192) })

/** Sources of a base (wire §6) under `prefix`. */
export const sourcesRest = (prefix: string, bases: BasesService, kernel: Kernel, auth: AuthService) =>
  new Elysia({ prefix })
    .use(restBase(kernel, auth))

    .get('/', async ({ actor, params }) => {
      const list = (await bases.sources.list(actor, baseIdOf(params))).map(presentSource)
      return { list, pageInfo: wholeListInfo(list.length) }
    })

    .post('/', async ({ actor, params, body }) => {
      const baseId = baseIdOf(params)
      await bases.enter(actor, 'source.create', baseId)
      return bases.sources.create(actor, baseId, newSourceOf(readBody(NewSourceBody, body)))
    })

    .get('/:sourceId', async ({ actor, params }) =>
      presentSource(await bases.sources.get(actor, baseIdOf(params), params.sourceId)),
    )

    .patch('/:sourceId', async ({ actor, params, body }) => {
      const source = await bases.sources.open(actor, 'source.update', baseIdOf(params), params.sourceId)
      const sent = readBody(PatchBody, body)
      return presentSource(
        await bases.sources.update(actor, source.baseId, source.id, {
          ...(sent.alias !== undefined && { alias: sent.alias }),
          // Clients send back a source as they read it: its connection is then the client alone.
          ...(hasParts(sent.config) && { config: sent.config }),
          isEnabled: sent.enabled ?? undefined,
          isSchemaReadonly: sent.is_schema_readonly ?? undefined,
          isDataReadonly: sent.is_data_readonly ?? undefined,
        }),
      )
    })

    .delete('/:sourceId', ({ actor, params }) =>
      bases.sources.delete(actor, baseIdOf(params), params.sourceId),
    )

const baseIdOf = (params: object): string => (params as { baseId: string }).baseId

/** @throws BAD_REQUEST for a source without a client */
export function newSourceOf(sent: z.output<typeof NewSourceBody>) {
  const config = sent.config ?? (sent.type ? { client: sent.type, connection: {} } : undefined)
  if (!config) throw badRequest(m.sources_error_config())
  return {
    ...config,
    alias: sent.alias,
    inflectionTable: sent.inflection_table ?? 'none',
    inflectionColumn: sent.inflection_column ?? 'none',
    isSchemaReadonly: sent.is_schema_readonly ?? false,
    isDataReadonly: sent.is_data_readonly ?? false,
  }
}

/** True for a connection with more than its client. */
export const hasParts = (
  config: z.output<typeof SentConnection> | null | undefined,
): config is z.output<typeof SentConnection> => !!config && Object.keys(config.connection).length > 0

const TEST_PATHS = ['/api/v1/db/meta/connection/test', '/api/v2/meta/connection/test']

/** Tests of connections before a source is created (wire §3). */
export const connectionsRest = (bases: BasesService, kernel: Kernel, auth: AuthService) => {
  const app = new Elysia()
    .use(restBase(kernel, auth))
    .post('/api/v1/url_to_config', ({ body }) => parseConnectionUrl(readBody(UrlBody, body).url))
  for (const path of TEST_PATHS) {
    app.post(path, async ({ actor, body }) => {
      await auth.access.authorize(actor, 'account.read')
      const { base_id: baseId, ...sent } = readBody(TestBody, body)
      const test = await (baseId
        ? bases.sources.test(actor, baseId, sent)
        : bases.sources.testAnywhere(actor, sent)
      ).catch(asAnswer(sent.client))
      // A failed test is answered with 200 and the reason (wire §3).
      return test.ok ? { code: 0, message: '', data: {} } : { code: -1, message: test.message, data: {} }
    })
  }
  return app
}

/** An incomplete connection to a supported database fails its test instead of the call. */
const asAnswer =
  (client: string) =>
  (error: unknown): ConnectionTest => {
    const isOfParts = error instanceof AppError && error.code === 'BAD_REQUEST' && isSupported(client)
    if (!isOfParts) throw error
    return { ok: false, message: error.message }
  }
