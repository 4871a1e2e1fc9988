import { z } from 'zod'
import { WORKSPACE_ROLES } from '../../src/core/roles.ts'
import { anyone, type Context, member, router } from '../../src/trpc.ts'
import { VERSION } from '../../src/version.ts'
import { asUser, rolesOf } from './accounts.ts'
import { EmailAddress } from './credentials.ts'
import { ChangePasswordInput, DisplayName, InvitationInput, SignInInput, SignUpInput } from './input.ts'
import type { AuthService } from './service.ts'
import type { RefreshCookie } from './sessions.ts'

const setCookie = (ctx: Context, { setCookie }: RefreshCookie) =>
  ctx.responseHeaders.append('set-cookie', setCookie)

/** `trpc.auth.*`: the caller's account and sessions. */
export const authRouter = (auth: AuthService) =>
  router({
    me: anyone.query(async ({ ctx }) => {
      const row = await auth.profile.me(ctx.actor)
      return { user: row && asUser(row), orgRoles: row ? rolesOf(row) : [] }
    }),

    /** The address that an invitation is for. Whoever has the link may sign up with it. */
    invitation: anyone
      .input(InvitationInput)
      .query(async ({ input }) => ({ email: await auth.findInvited(input.token) })),

    signUp: anyone.input(SignUpInput).mutation(async ({ ctx, input }) => {
      const signedIn = await auth.signUp(input, ctx.address)
      setCookie(ctx, signedIn.cookie)
      const { token, starter } = signedIn
      return starter ? { token, firstBaseId: starter.baseId } : { token, firstBaseId: undefined }
    }),

    signIn: anyone.input(SignInInput).mutation(async ({ ctx, input }) => {
      const { token, cookie } = await auth.session.signIn(input, ctx.address)
      setCookie(ctx, cookie)
      return { token }
    }),

    signOut: anyone.mutation(async ({ ctx }) => {
      setCookie(ctx, await auth.session.signOut(ctx.actor, ctx.request.headers))
    }),

    /** A new token for the session of the cookie; null without a cookie, as on a first visit. */
    refresh: anyone.mutation(async ({ ctx }): Promise<{ token: string | null }> => {
      const { headers } = ctx.request
      if (!auth.session.isRemembered(headers)) return { token: null }
      const { token, cookie } = await auth.session.refresh(headers)
      setCookie(ctx, cookie)
      return { token }
    }),

    changePassword: member.input(ChangePasswordInput).mutation(async ({ ctx, input }) => {
      const { token, cookie } = await auth.session.changePassword(ctx.actor, input, ctx.address)
      setCookie(ctx, cookie)
      return { token }
    }),

    forgotPassword: anyone
      .input(z.object({ email: EmailAddress }))
      .mutation(({ ctx, input }) => auth.forgotPassword(input.email, ctx.address)),

    updateProfile: member
      .input(z.object({ displayName: DisplayName.nullable() }))
      .mutation(async ({ ctx, input }) => asUser(await auth.profile.updateProfile(ctx.actor, input))),

    /** Sets or removes (null) a role in every base. */
    setWorkspaceRole: member
      .input(z.object({ userId: z.string().max(64), role: z.enum(WORKSPACE_ROLES).nullable() }))
      .mutation(async ({ ctx, input }) => {
        await auth.users.setWorkspaceRole(ctx.actor, input.userId, input.role)
      }),
  })

/** `trpc.app.*`: server facts that screens need before sign-in. */
export const appRouter = (auth: AuthService) =>
  router({
    info: anyone.query(async ({ ctx }) => {
      const [hasUsers, inviteOnlySignup] = await Promise.all([auth.hasUsers(), auth.settings.isInviteOnly()])
      return {
        firstUser: !hasUsers,
        inviteOnlySignup,
        version: VERSION,
        signupAllowed: !hasUsers || !inviteOnlySignup,
        siteUrl: auth.siteUrl(ctx.request),
        mapTiles: auth.mapTiles,
        sendsMail: auth.sendsMail,
      }
    }),

    setup: member.query(({ ctx }) => auth.setup.get(ctx.actor)),
  })
