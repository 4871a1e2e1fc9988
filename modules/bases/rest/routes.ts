import { Elysia } from 'elysia'
import { z } from 'zod'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { VERSION } from '../../../src/version.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { wholeListInfo } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { type AuthService, createToken, forbidden, presentTokens, readTokenId } from '../../auth/index.ts'
import { Description, MAX_INVITATIONS, MemberRole, Meta, Title } from '../input.ts'
import type { BasesService } from '../service.ts'
import type { BaseMeta } from '../tables.ts'
import { presentBase, presentMember, presentNewBase, presentOwnView } from './present.ts'
import { connectionsRest, hasParts, NewSourceBody, newSourceOf, sourcesRest } from './sources.ts'

/** Prefixes in both API versions, with their name for sources. */
const PREFIXES = [
  { prefix: '/api/v1/db/meta/projects', sources: 'bases' },
  { prefix: '/api/v2/meta/bases', sources: 'sources' },
]

const Color = plainText(64).nullish()
const WireMeta = z.union([Meta, z.string().max(16_384).transform(parseJsonOrNull).pipe(Meta)]).nullish()
const CreateBody = z.object({
  title: Title,
  description: Description.nullish(),
  color: Color,
  meta: WireMeta,
})
/** Sources with an `id` were read from another base, without their connections. */
const SentSource = NewSourceBody.extend({ id: z.string().max(64).nullish() })
const NewBaseBody = CreateBody.extend({ sources: z.array(SentSource).max(100).nullish() })

/** A base's place and flags in the caller's own list. */
const PreferenceBody = z.object({
  starred: wireFlag.nullish(),
  hidden: wireFlag.nullish(),
  order: z.number().nullish(),
})

const PatchBody = CreateBody.partial().extend({ order: z.number().optional() })

/** All REST routes of bases, members and sources (wire §5, §6). */
export const basesRest = (kernel: Kernel, { bases, auth }: { bases: BasesService; auth: AuthService }) => {
  const app = new Elysia({ name: 'bases-rest' })
  for (const { prefix, sources } of PREFIXES) {
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
        const { title, description, color, meta, sources } = readBody(NewBaseBody, body)
        const isNew = (source: z.output<typeof SentSource>) => !source.id || hasParts(source.config)
        const [source, another] = (sources ?? []).filter(isNew).map(newSourceOf)
        if (another) throw badRequest(m.bases_error_one_source())
        // Tested first, so that a refused connection leaves no base.
        const test = source && (await bases.sources.testAnywhere(actor, source))
        if (test?.ok === false) throw new AppError('DATABASE_ERROR', test.message)
        const { id } = await bases.create(actor, { title, description, meta: withColor(meta ?? {}, color) })
        if (source) await bases.sources.create(actor, id, source)
        return presentNewBase(await present(id))
      })

      .get('/:baseId', async ({ actor, params }) => {
        await bases.enter(actor, 'base.read', params.baseId)
        return present(params.baseId)
      })

      .patch('/:baseId', async ({ actor, params, body }) => {
        const base = await bases.enter(actor, 'base.update', params.baseId)
        const { color, meta, order, ...patch } = readBody(PatchBody, body)
        const changesMeta = meta !== undefined || color !== undefined
        // To clients, `color` is a property of its own: a new `meta` without it leaves it.
        const current = base.meta.color === undefined ? {} : { color: base.meta.color }
        const next = changesMeta ? { meta: withColor({ ...current, ...(meta ?? base.meta) }, color) } : {}
        // The list has the caller's own order. Sent back, it does not move the base for everyone.
        const isOwnOrder = order === (await bases.get(actor, base.id)).order
        await bases.update(actor, base.id, { ...patch, ...next, order: isOwnOrder ? undefined : order })
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
        if (actor.kind === 'share') throw forbidden(m.bases_error_members_only())
        return {
          Node: process.version,
          Arch: process.arch,
          Platform: process.platform,
          Docker: false,
          RootDB: kernel.meta.client,
          PackageVersion: VERSION,
        }
      })

      // The caller's own tokens, which open all their bases (wire §4.2).
      .get('/:baseId/api-tokens', async ({ actor, params }) => {
        await bases.enter(actor, 'base.tokens', params.baseId)
        return { list: await presentTokens(auth, actor) }
      })

      .post('/:baseId/api-tokens', async ({ actor, params, body }) => {
        await bases.enter(actor, 'base.tokens', params.baseId)
        return createToken(auth, actor, body)
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

const InviteBody = z.object({ email: z.string().max(65_536).nullish(), roles: MemberRole })
const RoleBody = z.object({ roles: MemberRole })

/** Members of a base (wire §5.1). */
const membersRest = (prefix: string, bases: BasesService, kernel: Kernel, auth: AuthService) =>
  new Elysia({ prefix: `${prefix}/:baseId/users` })
    .use(restBase(kernel, auth))

    .get('/', async ({ actor, params }) => {
      const everyone = await bases.members.everyone(actor, params.baseId)
      const list = everyone.map((listed) => presentMember(listed, params.baseId))
      return { users: { list, pageInfo: wholeListInfo(list.length) } }
    })

    .post('/', async ({ actor, params, body }) => {
      await bases.enter(actor, 'member.create', params.baseId)
      const { email, roles } = readBody(InviteBody, body)
      const emails = (email ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
      const [only] = emails
      if (only === undefined) throw badRequest('Email is required')
      if (emails.length > MAX_INVITATIONS)
        throw badRequest(m.bases_error_too_many_addresses({ max: MAX_INVITATIONS }))
      if (emails.length === 1) {
        const { inviteToken, email } = await bases.members.invite(actor, params.baseId, only, roles)
        const msg = 'The user has been invited successfully'
        return inviteToken === null ? { msg } : { msg, invite_token: inviteToken, email }
      }
      const outcomes = await bases.members.inviteEach(actor, params.baseId, emails, roles)
      const invited = outcomes.filter(({ problem }) => problem === null)
      const error = outcomes.flatMap(({ email, problem }) =>
        problem === null ? [] : [{ email, error: problem }],
      )
      return {
        invite_token: invited.find(({ inviteToken }) => inviteToken !== null)?.inviteToken ?? null,
        emails,
        error,
        // One token for each person: a shared one would let any of them sign up as another.
        invites: invited.map(({ email, inviteToken }) => ({ email, invite_token: inviteToken })),
      }
    })

    .patch('/:userId', async ({ actor, params, body }) => {
      await bases.enter(actor, 'member.update', params.baseId)
      await bases.members.update(actor, params.baseId, params.userId, readBody(RoleBody, body).roles)
      return { msg: 'The user has been updated successfully' }
    })

    .delete('/:userId', async ({ actor, params }) => {
      await bases.members.remove(actor, params.baseId, params.userId)
      return { msg: 'The user has been deleted successfully' }
    })

    .post('/:userId/resend-invite', async ({ actor, params }) => {
      await bases.enter(actor, 'member.update', params.baseId)
      await bases.members.resendInvite(actor, params.baseId, params.userId)
      return { msg: 'The invitation has been sent to the user' }
    })
