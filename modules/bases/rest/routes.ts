import { Elysia } from 'elysia'
import { z } from 'zod'
import { parseJsonText } from '../../../src/core/json-text.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { VERSION } from '../../../src/version.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { wholeListInfo } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import {
  type AuthService,
  forbidden,
  presentNewToken,
  presentTokens,
  readTokenId,
  TokenBody,
} from '../../auth/index.ts'
import { Description, Meta, PreferenceBody, Title } from '../input.ts'
import type { BasesService } from '../service.ts'
import type { BaseMeta } from '../tables.ts'
import { membersRest } from './members.ts'
import { presentBase, presentNewBase, presentOwnView } from './present.ts'
import { connectionsRest, sourcesRest } from './sources.ts'

/** Where bases are in both versions, and what the newer one calls the databases of a base. */
const DOORS = [
  { prefix: '/api/v1/db/meta/projects', sources: 'bases' },
  { prefix: '/api/v2/meta/bases', sources: 'sources' },
]

const Color = plainText(64).nullish()
const WireMeta = z.union([Meta, z.string().max(16_384).transform(parseMeta).pipe(Meta)]).nullish()
const CreateBody = z.object({
  title: Title,
  description: Description.nullish(),
  color: Color,
  meta: WireMeta,
})
const PatchBody = CreateBody.partial().extend({ order: z.number().optional() })

/** Every REST route of bases, their members and their sources (wire §5, §6). */
export const basesRest = (bases: BasesService, kernel: Kernel, auth: AuthService) => {
  const app = new Elysia({ name: 'bases-rest' })
  for (const { prefix, sources } of DOORS) {
    app
      .use(routes(prefix, bases, kernel, auth))
      .use(membersRest(prefix, bases, kernel, auth))
      .use(sourcesRest(`${prefix}/:baseId/${sources}`, bases, kernel, auth))
  }
  return app.use(connectionsRest(bases, kernel, auth))
}

function routes(prefix: string, bases: BasesService, kernel: Kernel, auth: AuthService) {
  return (
    new Elysia({ prefix })
      .use(restBase(kernel, auth))

      .get('/', async ({ actor }) => {
        await auth.access.authorize(actor, 'base.list')
        const visible = actor.kind === 'user' ? await bases.visible(actor) : []
        const sources = await bases.sourcesOf(visible.map(({ base }) => base.id))
        const list = visible.map(({ base, preference, role }) => ({
          ...presentBase(base, sources.get(base.id) ?? []),
          ...presentOwnView(role, preference),
          order: preference?.order ?? base.order,
        }))
        return { list, pageInfo: wholeListInfo(list.length) }
      })

      .post('/', async ({ actor, body }) => {
        await auth.access.authorize(actor, 'base.create')
        const { title, description, color, meta } = readBody(CreateBody, body)
        const { id } = await bases.create(actor, { title, description, meta: withColor(meta ?? {}, color) })
        return presentNewBase(await present(id))
      })

      .get('/:baseId', async ({ actor, params }) => {
        await bases.enter(actor, 'base.read', params.baseId)
        return present(params.baseId)
      })

      .patch('/:baseId', async ({ actor, params, body }) => {
        const base = await bases.enter(actor, 'base.update', params.baseId)
        const { color, meta, ...patch } = readBody(PatchBody, body)
        const changesMeta = meta !== undefined || color !== undefined
        const next = changesMeta ? { meta: withColor(meta ?? { ...base.meta }, color) } : {}
        await bases.update(actor, base.id, { ...patch, ...next })
        return scalar(1)
      })

      .delete('/:baseId', async ({ actor, params }) => {
        await bases.delete(actor, params.baseId)
        return scalar(true)
      })

      .patch('/:baseId/user', async ({ actor, params, body }) => {
        const base = await bases.enter(actor, 'base.reorder', params.baseId)
        await bases.prefer(actor, base.id, readBody(PreferenceBody, body))
        return scalar(true)
      })

      .get('/:baseId/info', async ({ actor, params }) => {
        await bases.enter(actor, 'base.read', params.baseId)
        if (actor.kind === 'share') throw forbidden('Only members of the base can do this')
        return {
          Node: process.version,
          Arch: process.arch,
          Platform: process.platform,
          Docker: false,
          RootDB: kernel.meta.client,
          PackageVersion: VERSION,
        }
      })

      // They are the caller's own tokens, and open all their bases (wire §4.2).
      .get('/:baseId/api-tokens', async ({ actor, params }) => {
        await bases.enter(actor, 'base.tokens', params.baseId)
        return { list: await presentTokens(auth, actor) }
      })

      .post('/:baseId/api-tokens', async ({ actor, params, body }) => {
        await bases.enter(actor, 'base.tokens', params.baseId)
        const { description, expiry } = readBody(TokenBody, body)
        const { row, token } = await auth.tokens.create(actor, description ?? null, expiry ?? null)
        return presentNewToken(row, token)
      })

      .delete('/:baseId/api-tokens/:tokenId', async ({ actor, params }) => {
        await bases.enter(actor, 'base.tokens', params.baseId)
        await auth.tokens.delete(actor, readTokenId(params.tokenId))
        return scalar(1)
      })
  )

  async function present(baseId: string) {
    const sources = await bases.sourcesOf([baseId])
    return presentBase(await bases.require(baseId), sources.get(baseId) ?? [])
  }
}

const withColor = (meta: BaseMeta, color: string | null | undefined): BaseMeta =>
  color === undefined ? meta : { ...meta, color }

/** Clients also send `meta` as JSON text (wire §1.4). What is none is refused by the schema after it. */
function parseMeta(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
