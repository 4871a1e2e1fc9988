import { Elysia } from 'elysia'
import { z } from 'zod'
import { badRequest } from '../../src/core/errors.ts'
import { plainText } from '../../src/input.ts'
import type { Kernel } from '../../src/kernel.ts'
import { readBody, restBase } from '../../src/rest.ts'
import { wholeListInfo } from '../../src/wire.ts'
import type { AuthService } from '../auth/index.ts'
import { isKnownClient, parseConnectionUrl } from './connection-url.ts'
import { presentSource } from './present.ts'
import type { BasesService } from './service.ts'
import { notImplemented } from './sources.ts'

const PatchBody = z.object({
  alias: plainText(255).nullish(),
  is_schema_readonly: z.unknown().optional(),
  is_data_readonly: z.unknown().optional(),
})
const TestBody = z.object({ client: z.string().max(64) })
const UrlBody = z.object({ url: z.string().max(8192) })

/** The databases that a base reads (wire §6). `prefix` is where one base's sources are. */
export const sourcesRest = (prefix: string, bases: BasesService, kernel: Kernel, auth: AuthService) =>
  new Elysia({ prefix })
    .use(restBase(kernel, auth))

    .get('/', async ({ actor, params }) => {
      const list = (await bases.sources.list(actor, baseIdOf(params))).map(presentSource)
      return { list, pageInfo: wholeListInfo(list.length) }
    })

    .post('/', ({ actor, params }) => bases.sources.create(actor, baseIdOf(params)))

    .get('/:sourceId', async ({ actor, params }) =>
      presentSource(await bases.sources.get(actor, baseIdOf(params), params.sourceId)),
    )

    .patch('/:sourceId', async ({ actor, params, body }) => {
      const source = await bases.sources.openForUpdate(actor, baseIdOf(params), params.sourceId)
      const { alias, is_schema_readonly: schema, is_data_readonly: data } = readBody(PatchBody, body)
      if (schema || data) throw notImplemented('A read-only source')
      return presentSource(
        await bases.sources.rename(
          actor,
          source.baseId,
          source.id,
          alias === undefined ? source.alias : alias,
        ),
      )
    })

    .delete('/:sourceId', ({ actor, params }) =>
      bases.sources.delete(actor, baseIdOf(params), params.sourceId),
    )

const baseIdOf = (params: object): string => (params as { baseId: string }).baseId

const TEST_PATHS = ['/api/v1/db/meta/connection/test', '/api/v2/meta/connection/test']

/** What clients ask of a connection before they make a source of it (wire §3). */
export const connectionsRest = (kernel: Kernel, auth: AuthService) => {
  const app = new Elysia()
    .use(restBase(kernel, auth))
    .post('/api/v1/url_to_config', ({ body }) => parseConnectionUrl(readBody(UrlBody, body).url))
  for (const path of TEST_PATHS) {
    app.post(path, async ({ actor, body }) => {
      await auth.access.authorize(actor, 'account.read')
      const { client } = readBody(TestBody, body)
      if (!isKnownClient(client)) throw badRequest('Database not supported')
      // A test that fails is an answer like any other, with its reason (wire §3).
      return { code: -1, message: `Connecting to a ${client} database is not implemented`, data: {} }
    })
  }
  return app
}
