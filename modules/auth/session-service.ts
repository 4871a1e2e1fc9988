import { and, eq } from 'drizzle-orm'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Access, forbidden, requireUser } from './access.ts'
import type { Accounts, UserRow } from './accounts.ts'
import type { ApiTokens } from './api-tokens.ts'
import { emailKey } from './email.ts'
import { createHourlyLimit } from './hourly-limit.ts'
import type { Jwt } from './jwt.ts'
import { hashPassword, MAX_PASSWORD_LENGTH, verifyPassword } from './passwords.ts'
import { randomHex80 } from './secrets.ts'
import type { RefreshCookie, Sessions } from './sessions.ts'
import type { SignUp, SignUpInput } from './sign-up.ts'
import { defineAuthTables } from './tables.ts'
import type { Throttle } from './throttle.ts'

/** What someone has after signing in: an access token to send, and the cookie that renews it. */
export interface SignedIn {
  token: string
  cookie: RefreshCookie
  user: UserRow
}

export interface SessionParts {
  accounts: Accounts
  access: Access
  jwt: Jwt
  sessions: Sessions
  signUp: SignUp
  throttle: Throttle
  tokens: ApiTokens
}

/** Signing up, in and out, and what ends the sessions of a person. */
export function createSessionService({ meta, config }: Pick<Kernel, 'meta' | 'config'>, parts: SessionParts) {
  const { accounts, access, jwt, sessions, signUp, throttle, tokens } = parts
  const { users } = meta.tables(defineAuthTables)
  const signUps = createHourlyLimit(config.signUpsPerHour, 'new accounts')

  async function start(user: UserRow, roles: 'object' | 'list'): Promise<SignedIn> {
    const cookie = await sessions.start(user)
    return { token: await jwt.sign(user, roles), cookie, user }
  }

  /** Voids every access and refresh token of the user. Null where somebody else did just now. */
  async function endSessions(user: UserRow, also: { passwordHash?: string } = {}): Promise<UserRow | null> {
    const [row] = await meta.db
      .update(users)
      .set({ ...also, tokenVersion: randomHex80(), updatedAt: new Date().toISOString() })
      .where(and(eq(users.id, user.id), eq(users.tokenVersion, user.tokenVersion)))
      .returning()
    await sessions.endAll(user.id)
    accounts.changed(user.id)
    return row ?? null
  }

  return {
    /**
     * Makes an account (see `createSignUp`) and signs in to it.
     * @throws BAD_REQUEST as there; TOO_MANY_REQUESTS after many failures or many new accounts from the address
     */
    async signUp(input: SignUpInput, address: string): Promise<SignedIn & { isFirst: boolean }> {
      // An invitation names its address: only people who are expected have one.
      const attempt = () =>
        input.inviteToken
          ? signUp.signUp(input)
          : signUps.count('sign-up', address, () => signUp.signUp(input))
      const { user, isFirst } = await throttle.attempt(`sign-up ${emailKey(input.email)}`, address, attempt)
      return { ...(await start(user, 'list')), isFirst }
    },

    /**
     * @throws BAD_REQUEST, in the same words and time, for a wrong password and for an address that
     *   nobody has; TOO_MANY_REQUESTS after many failures
     */
    async signIn(input: { email: string; password: string }, address: string): Promise<SignedIn> {
      const key = emailKey(input.email).slice(0, 256)
      const user = await throttle.attempt(`sign-in ${key}`, address, async () => {
        const found = await accounts.findByEmail(key)
        const password = input.password.slice(0, MAX_PASSWORD_LENGTH + 1)
        const matches = await verifyPassword(password, found?.passwordHash ?? null)
        if (!found || !matches) throw badRequest('Invalid credentials')
        return found
      })
      return start(user, 'object')
    },

    /**
     * A new access token for a refresh token, which is used up and replaced.
     * @throws BAD_REQUEST when there is none, or it is unknown, used, expired or revoked
     */
    async refresh(headers: Headers): Promise<SignedIn> {
      const value = sessions.readCookie(headers)
      if (value === null) throw badRequest('Missing refresh token')
      const rotated = await sessions.rotate(value)
      if (!rotated) throw badRequest('Invalid refresh token')
      return { ...rotated, token: await jwt.sign(rotated.user, 'list') }
    },

    /**
     * Ends all sessions of the actor, and the one of the request's cookie. Gives the cookie that
     * removes it. Somebody whose token is dead already is signed out as well.
     * @throws FORBIDDEN without any token
     */
    async signOut(actor: Actor, headers: Headers): Promise<RefreshCookie> {
      if (!headers.has('xc-auth')) throw forbidden('Not allowed')
      const value = sessions.readCookie(headers)
      if (value !== null) await sessions.end(value)
      const account = actor.kind === 'user' && actor.via === 'session' ? await accounts.find(actor.id) : null
      if (account) await endSessions(account.row)
      return sessions.blank()
    },

    /**
     * Changes the actor's own password. Every session of theirs is void; the answer starts a new one. Their API
     * tokens go on working, unless `revokesTokens`.
     * @throws BAD_REQUEST when the current password is wrong; TOO_MANY_REQUESTS after many failures
     */
    async changePassword(
      actor: Actor,
      input: { currentPassword: string; newPassword: string; revokesTokens?: boolean },
      address: string,
    ): Promise<SignedIn> {
      await access.authorize(actor, 'account.password')
      const { id, email }: UserActor = requireUser(actor)
      const user = await throttle.attempt(`change ${id}`, address, async () => {
        const found = await accounts.findByEmail(email)
        const matches = await verifyPassword(input.currentPassword, found?.passwordHash ?? null)
        if (!found || !matches) throw badRequest('Current password is wrong')
        return found
      })
      const changed = await endSessions(user, { passwordHash: await hashPassword(input.newPassword) })
      // Signed out, or changed in another window, while the hashes were made.
      if (!changed) throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
      if (input.revokesTokens) await tokens.deleteAllOf(id)
      return start(changed, 'object')
    },
  }
}
