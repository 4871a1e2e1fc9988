import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { WORKSPACE_ROLES } from '../../../src/core/roles.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { pageInfo, readPage, wholeListInfo } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { requireUser } from '../access.ts'
import type { UserRow } from '../accounts.ts'
import { AppSettings } from '../input.ts'
import { GRANTABLE_ORG_ROLES } from '../org-users.ts'
import type { AuthService } from '../service.ts'
import { presentNewToken, presentOrgUser, presentToken } from './present.ts'

const MAX_QUERY_LENGTH = 256

const InviteBody = z.object({ email: z.string().max(4096), roles: z.enum(GRANTABLE_ORG_ROLES).optional() })
const OrgRolesBody = z.object({ roles: z.enum(GRANTABLE_ORG_ROLES) })
/** `workspace_roles`: a role in every base; null removes it. */
const RolesBody = OrgRolesBody.partial().extend({ workspace_roles: z.enum(WORKSPACE_ROLES).nullish() })
const LicenseBody = z.object({ key: plainText(4096) })
/** Tokens cannot be restricted: a client that asks for a restriction must not believe that it got one. */
const Unrestricted = z.null({ error: () => m.auth_error_token_permissions() }).optional()
const TokenBody = z.object({
  description: plainText(255).nullish(),
  permissions: Unrestricted,
  scope: Unrestricted,
  scopes: Unrestricted,
  /** ISO 8601; null: never. */
  expiry: z.iso.datetime({ offset: true, local: true, error: () => m.auth_error_expiry_format() }).nullish(),
})

/** The organisation's users, the caller's API tokens, settings and licence (wire §4). */
export const orgRest = (auth: AuthService, kernel: Kernel) =>
  new Elysia({ name: 'org-rest' })
    .use(restBase(kernel, auth))

    .get('/api/v1/users', async ({ actor, query }) => {
      const page = readPage(query)
      const search = query.query?.slice(0, MAX_QUERY_LENGTH).replaceAll('\u0000', '')
      const { rows, total } = await auth.users.list(actor, { ...page, query: search })
      const list = await presentUsers(auth, actor, rows)
      return { list, pageInfo: pageInfo(total, page) }
    })

    .post('/api/v1/users', async ({ actor, body }) => {
      await auth.access.authorize(actor, 'user.create')
      const { email, roles } = readBody(InviteBody, body)
      const invited = await auth.users.create(actor, email, roles)
      const invitation = { invite_token: invited.inviteToken, email: invited.email }
      // Mails get lost, so the inviter gets the link as well.
      return auth.sendsMail ? { msg: 'success', ...invitation } : invitation
    })

    .get('/api/v1/users/:userId', async ({ actor, params }) => {
      const [presented] = await presentUsers(auth, actor, [await auth.users.read(actor, params.userId)])
      return presented
    })

    .patch('/api/v1/users/:userId', async ({ actor, params, body }) => {
      await auth.access.authorize(actor, 'user.update')
      const { roles, workspace_roles: sent } = readBody(RolesBody, body)
      // Clients send whole users back: beside `roles`, an unchanged workspace role is no change.
      const isUnchanged = roles !== undefined && sent === (await auth.access.workspaceRole(params.userId))
      const workspaceRole = isUnchanged ? undefined : sent
      if (workspaceRole === undefined) readBody(OrgRolesBody, body)
      // First, since it needs the higher right and a refusal must change nothing.
      const updated =
        workspaceRole === undefined
          ? null
          : await auth.users.setWorkspaceRole(actor, params.userId, workspaceRole)
      const row = roles === undefined ? updated : await auth.users.updateRoles(actor, params.userId, roles)
      const [presented] = await presentUsers(auth, actor, row === null ? [] : [row])
      return presented
    })

    .delete('/api/v1/users/:userId', async ({ actor, params }) => {
      await auth.users.delete(actor, params.userId)
      return { msg: 'The user has been deleted successfully' }
    })

    .post('/api/v1/users/:userId/resend-invite', async ({ actor, params }) => {
      await auth.users.resendInvite(actor, params.userId)
      return { msg: 'The invitation has been sent to the user' }
    })

    .post('/api/v1/users/:userId/generate-reset-url', async ({ actor, params, request }) => {
      const token = await auth.passwordReset.create(actor, params.userId)
      const url = `${auth.siteUrl(request)}/dashboard/#/reset/${token}`
      return { reset_password_token: token, reset_password_url: url }
    })

    .get('/api/v1/tokens', async ({ actor }) => {
      const list = await presentTokens(auth, actor)
      return { list, pageInfo: wholeListInfo(list.length) }
    })

    .post('/api/v1/tokens', async ({ actor, body }) => {
      await auth.access.authorize(actor, 'token.create')
      return createToken(auth, actor, body)
    })

    .delete('/api/v1/tokens/:tokenId', async ({ actor, params }) => {
      await auth.access.authorize(actor, 'token.delete')
      await auth.tokens.delete(actor, readTokenId(params.tokenId))
      return new Response(null)
    })

    .get('/api/v1/app-settings', ({ actor }) => auth.settings.get(actor))

    .post('/api/v1/app-settings', async ({ actor, body }) => {
      await auth.access.authorize(actor, 'settings.update')
      await auth.settings.save(actor, readBody(AppSettings, body))
      return { msg: 'The app settings have been saved' }
    })

    .get('/api/v1/license', ({ actor }) => auth.settings.license.get(actor))

    .post('/api/v1/license', async ({ actor, body }) => {
      await auth.access.authorize(actor, 'settings.update')
      await auth.settings.license.save(actor, readBody(LicenseBody, body))
      return { msg: 'The license key has been saved' }
    })

/** Users with the number of their bases and their workspace role. */
async function presentUsers(auth: AuthService, actor: Actor, rows: readonly UserRow[]) {
  const ids = rows.map(({ id }) => id)
  const [counts, roles] = await Promise.all([auth.access.countBases(ids), auth.access.workspaceRoles(ids)])
  return rows.map((row) =>
    presentOrgUser(row, {
      inviteToken: auth.users.inviteTokenFor(actor, row),
      projectsCount: counts.get(row.id) ?? 0,
      workspaceRole: roles.get(row.id) ?? null,
    }),
  )
}

/** Creates an API token of the actor. */
export async function createToken(auth: AuthService, actor: Actor, body: unknown) {
  const { description, expiry } = readBody(TokenBody, body)
  const { row, token } = await auth.tokens.create(actor, description ?? null, expiry ?? null)
  return presentNewToken(row, token)
}

/** The actor's tokens, masked. */
export async function presentTokens(auth: AuthService, actor: Actor) {
  const rows = await auth.tokens.list(actor)
  return rows.map((row) => presentToken(row, requireUser(actor)))
}

/** @throws BAD_REQUEST for an invalid token id */
export function readTokenId(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw badRequest(`Token with id '${text.slice(0, 40)}' not found`)
}
