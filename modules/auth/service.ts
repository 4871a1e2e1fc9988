import { type Actor, ANONYMOUS, type UserActor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineSlot } from '../../src/registry.ts'
import { createAccess } from './access.ts'
import { createAccounts } from './accounts.ts'
import { createApiTokens } from './api-tokens.ts'
import { createAudits } from './audits.ts'
import { createJwt } from './jwt.ts'
import { createOrgUsers } from './org-users.ts'
import { createForgotPassword, createPasswordReset } from './password-reset.ts'
import { createPeople, createProfile } from './people.ts'
import { createServerSetup, createSettings } from './server-setup.ts'
import { createSessionService, createSessions, type SignedIn } from './sessions.ts'
import { createShareVisitors } from './share-visitors.ts'
import { createShares } from './shares.ts'
import { createInviteMails, createSignUp, type SignUpInput } from './sign-up.ts'
import { createThrottle } from './throttle.ts'

export interface StarterBase {
  baseId: string
  tableIds: string[]
}

export type Starter = (owner: UserActor) => Promise<StarterBase>

/** Set by app.ts, since later modules create the base. */
export const STARTER = defineSlot<Starter>('auth.starter')

export type AuthService = ReturnType<typeof createAuthService>

/** Accounts, sessions, API tokens and access control. */
export function createAuthService(kernel: Kernel) {
  const accounts = createAccounts(kernel)
  const access = createAccess(kernel, accounts)
  const audits = createAudits(kernel)
  const settings = createSettings(kernel, access, audits)
  const signUp = createSignUp(kernel, accounts, settings, audits)
  const sessions = createSessions(kernel, accounts)
  const jwt = createJwt(kernel)
  const tokens = createApiTokens(kernel, access, audits)
  const throttle = createThrottle({ limits: kernel.limits, name: 'failed sign-ins' })
  const shares = createShares(kernel, audits)
  const visitors = createShareVisitors(kernel, shares)

  /** Identifies a caller from the caches alone. */
  function recall(jwtText: string | null, apiToken: string | null): UserActor | undefined {
    const claims = jwtText === null ? undefined : jwt.recall(jwtText)
    const account = claims && accounts.peek(claims.userId)
    if (claims && account?.row.tokenVersion === claims.tokenVersion) return account.actors.session
    const owner = apiToken === null ? undefined : tokens.recall(apiToken)
    return jwtText === null && owner ? accounts.peek(owner.userId)?.actors.token : undefined
  }

  async function identify(jwtText: string | null, apiToken: string | null): Promise<Actor> {
    const claims = jwtText === null ? null : await jwt.verify(jwtText)
    const account = claims && (await accounts.find(claims.userId))
    if (claims && account?.row.tokenVersion === claims.tokenVersion) return account.actors.session
    const owner = apiToken === null ? null : await tokens.identify(apiToken)
    return (owner && (await accounts.find(owner.userId))?.actors.token) ?? ANONYMOUS
  }

  const passwordReset = createPasswordReset(kernel, accounts, access, sessions, tokens, audits)
  const session = createSessionService(kernel, {
    accounts,
    access,
    audits,
    jwt,
    sessions,
    signUp,
    throttle,
    tokens,
  })

  return {
    access,
    audits,
    shares,
    visitors,
    settings,
    setup: createServerSetup(kernel, access),
    tokens,
    users: createOrgUsers(kernel, accounts, access, createInviteMails(kernel, audits), audits),
    passwordReset,
    forgotPassword: createForgotPassword(kernel, accounts, passwordReset),
    session,
    profile: createProfile(kernel, accounts, access),
    hasUsers: signUp.hasUsers,
    findInvited: signUp.findInvited,
    ...createPeople(kernel, access),

    /**
     * Identifies the sender of a request: the visitor of a public link, else the user of the session token in
     * `xc-auth`, else of the API token in `xc-token` or `Authorization: Bearer`. Invalid tokens make the caller
     * anonymous. Cached credentials are answered synchronously.
     * @throws VIEW_NOT_FOUND, BASE_NOT_FOUND, INVALID_SHARED_VIEW_PASSWORD or TOO_MANY_REQUESTS for a link that
     * refuses the visitor
     */
    authenticate(headers: Headers, address = ''): Actor | Promise<Actor> {
      const visitor = visitors.ofHeaders(headers, address)
      if (visitor) return visitor
      const jwtText = headers.get('xc-auth')
      const apiToken = headers.get('xc-token') ?? bearerOf(headers)
      if (jwtText === null && apiToken === null) return ANONYMOUS
      return recall(jwtText, apiToken) ?? identify(jwtText, apiToken)
    },

    /**
     * Creates an account and signs in. The first user gets the starter base.
     * @throws as `session.signUp`
     */
    async signUp(input: SignUpInput, address: string): Promise<SignedIn & { starter: StarterBase | null }> {
      const { isFirst, ...signedIn } = await session.signUp(input, address)
      return { ...signedIn, starter: isFirst ? await giveStarter(signedIn.user.id) : null }
    },

    /** A person as an actor, for work on their behalf without a request; null for a deleted account. */
    actorOf: async (userId: string): Promise<UserActor | null> =>
      (await accounts.find(userId))?.actors.session ?? null,

    /** Tile server of maps; null: maps show built-in outlines. */
    mapTiles:
      kernel.config.mapTilesUrl === null
        ? null
        : { url: kernel.config.mapTilesUrl, attribution: kernel.config.mapTilesAttribution ?? '' },
    /** Changes with the configuration of the mail service. */
    get sendsMail(): boolean {
      return kernel.mail.isConfigured
    },
    /** The server's public address: configured, else that of the request. */
    siteUrl: (request: Request): string => kernel.config.publicUrl ?? new URL(request.url).origin,
  }

  /** Failures are only logged: the account works without the base. */
  async function giveStarter(userId: string): Promise<StarterBase | null> {
    try {
      const owner = await accounts.find(userId)
      return owner && (await kernel.registry.get(STARTER)(owner.actors.session))
    } catch (error) {
      kernel.log.error('the first base could not be made', error, { userId })
      return null
    }
  }
}

const bearerOf = (headers: Headers): string | null =>
  /^Bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
