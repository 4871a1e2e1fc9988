import { Elysia } from 'elysia'
import { z } from 'zod'
import { clientAddress } from '../../../src/caller.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { defineSlot } from '../../../src/registry.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { maskedToken } from '../api-tokens.ts'
import { EmailAddress, NewPassword } from '../credentials.ts'
import { DisplayName, ProfileMeta, SignInInput, SignUpInput } from '../input.ts'
import type { AuthService, StarterBase } from '../service.ts'
import { GUEST, presentMe, presentVisitor } from './present.ts'

/** Prefixes of older and newer clients. */
const PREFIXES = ['/api/v1/auth', '/api/v1/db/auth', '/auth', '/api/v2/auth']

const SignUpBody = z.object({
  email: SignUpInput.shape.email,
  password: NewPassword,
  token: SignUpInput.shape.inviteToken.nullish(),
})
const ChangeBody = z.object({
  currentPassword: z.string().min(8).max(4096),
  newPassword: NewPassword,
  revoke_tokens: z.boolean().nullish(),
})
const ResetBody = z.object({ password: NewPassword, revoke_tokens: z.boolean().nullish() })
const ProfileBody = z.object({ display_name: DisplayName.nullish(), meta: ProfileMeta.nullish() })

/** Set by app.ts: presents the first user's base for `createdProject`. */
export const STARTER_PRESENTER =
  defineSlot<(starter: StarterBase) => Promise<Record<string, unknown>>>('auth.rest.starter')

/** Sign-up, sign-in, session and password (wire §2). */
export const sessionRest = (auth: AuthService, kernel: Kernel) => {
  const app = new Elysia({ name: 'session-rest' })
  for (const prefix of PREFIXES) app.use(routes(prefix, auth, kernel))
  for (const path of ['/api/v1/user/profile', '/api/v2/meta/user/profile'])
    app.use(profileRoute(path, auth, kernel))
  return app
}

const routes = (prefix: string, auth: AuthService, kernel: Kernel) =>
  new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .derive(({ request, server }) => ({ address: clientAddress(kernel.config, request, server) }))

    .post('/user/signup', async ({ body, set, address }) => {
      const { email, password, token: inviteToken } = readBody(SignUpBody, body)
      const signedIn = await auth.signUp({ email, password, inviteToken: inviteToken ?? undefined }, address)
      set.headers['set-cookie'] = signedIn.cookie.setCookie
      const { token, starter } = signedIn
      if (!starter) return { token }
      return { token, createdProject: await kernel.registry.get(STARTER_PRESENTER)(starter) }
    })

    .post('/user/signin', async ({ body, set, address }) => {
      const given = SignInInput.safeParse(body)
      if (!given.success) throw new AppError('AUTHENTICATION_REQUIRED', 'Unauthorized', undefined, 'msg')
      const { token, cookie } = await auth.session.signIn(given.data, address)
      set.headers['set-cookie'] = cookie.setCookie
      return { token }
    })

    .post('/user/signout', async ({ actor, request, set }) => {
      set.headers['set-cookie'] = (await auth.session.signOut(actor, request.headers)).setCookie
      return { msg: 'Signed out successfully' }
    })

    .get('/user/me', async ({ actor, query }) => {
      const baseId = typeof query.base_id === 'string' ? query.base_id : null
      if (actor.kind === 'share' && actor.grant.kind === 'base' && actor.baseId === baseId) {
        return presentVisitor(actor.grant.role)
      }
      const row = await auth.profile.me(actor)
      if (!row || actor.kind !== 'user') return GUEST
      const baseRole = baseId === null ? null : await auth.access.baseRole(actor, baseId)
      return presentMe(row, actor.via, { baseRole, workspaceRole: await auth.access.workspaceRole(row.id) })
    })

    .post('/token/refresh', async ({ request, set }) => {
      const { token, cookie } = await auth.session.refresh(request.headers)
      set.headers['set-cookie'] = cookie.setCookie
      return { token }
    })

    .post('/password/change', async ({ actor, body, set, address }) => {
      await auth.access.authorize(actor, 'account.password')
      const { revoke_tokens: revokes, ...passwords } = readBody(ChangeBody, body)
      const change = { ...passwords, revokesTokens: revokes ?? false }
      const { cookie } = await auth.session.changePassword(actor, change, address)
      set.headers['set-cookie'] = cookie.setCookie
      return { msg: 'Password has been updated successfully' }
    })

    .post('/password/forgot', ({ body, address }) => {
      auth.forgotPassword(readBody(z.object({ email: EmailAddress }), body).email, address)
      return { msg: 'Please check your email to reset the password' }
    })

    .post('/token/validate/:token', async ({ params }) => {
      const tokens = await auth.passwordReset.check(params.token)
      // API tokens that survive the reset unless they are revoked.
      const kept = tokens.map((row) => ({ description: row.description, token: maskedToken(row) }))
      return { msg: 'Token has been validated successfully', ...(kept.length > 0 && { api_tokens: kept }) }
    })

    .post('/password/reset/:token', async ({ params, body }) => {
      await auth.passwordReset.check(params.token)
      const { password, revoke_tokens: revokes } = readBody(ResetBody, body)
      await auth.passwordReset.reset(params.token, password, revokes ?? false)
      return { msg: 'Password has been reset successfully' }
    })

    .post('/google/genTokenByCode', () => {
      throw badRequest(
        'Google client id or secret not found. Please add it in plugin settings or define env variables.',
      )
    })
    .post('/github/genTokenByCode', () => {
      throw badRequest(m.auth_error_provider_unavailable({ provider: 'GitHub' }))
    })
    .post('/oidc/genTokenByCode', () => {
      throw badRequest(m.auth_error_provider_unavailable({ provider: 'OpenID Connect' }))
    })

    // The address in reset mails leads to a screen of the web app.
    .get('/password/reset/:token', ({ params, redirect }) =>
      redirect(`/dashboard#/reset/${encodeURIComponent(params.token)}`),
    )

    // No verification mails are sent, so no token can be valid.
    .post('/email/validate/:token', () => {
      throw badRequest('Invalid verification url')
    })

const profileRoute = (path: string, auth: AuthService, kernel: Kernel) =>
  new Elysia().use(restBase(kernel, auth)).patch(path, async ({ actor, body }) => {
    await auth.access.authorize(actor, 'account.update')
    const { display_name: displayName, meta } = readBody(ProfileBody, body)
    const row = await auth.profile.updateProfile(actor, { displayName, meta })
    const workspaceRole = await auth.access.workspaceRole(row.id)
    return presentMe(row, actor.kind === 'user' ? actor.via : 'token', { baseRole: null, workspaceRole })
  })
