import { and, eq, exists, lte } from 'drizzle-orm'
import { type Adapter, type DatabaseSession, Lucia, TimeSpan } from 'lucia'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Access, forbidden, requireUser } from './access.ts'
import type { Accounts, UserRow } from './accounts.ts'
import type { ApiTokens } from './api-tokens.ts'
import type { Audits } from './audits.ts'
import {
  emailKey,
  hashPassword,
  MAX_PASSWORD_LENGTH,
  randomHex80,
  sha256,
  verifyPassword,
} from './credentials.ts'
import type { Jwt } from './jwt.ts'
import type { SignUp, SignUpInput } from './sign-up.ts'
import { defineAuthTables } from './tables.ts'
import { createHourlyLimit, type Throttle } from './throttle.ts'

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<{ tokenVersion: string }>
    DatabaseSessionAttributes: { tokenVersion: string }
  }
}

const COOKIE = 'refresh_token'
const LIFE_DAYS = 30
const DAY_MS = 24 * 60 * 60_000
/** How often expired rows are deleted; they are refused before that, too. */
const SWEEP_EVERY_MS = 60 * 60_000

export interface RefreshCookie {
  /** Value of a `Set-Cookie` header. */
  setCookie: string
}

export type Sessions = ReturnType<typeof createSessions>

/**
 * Refresh tokens, with Lucia; only this file knows it. A session's id is the SHA-256 of the cookie's value, so
 * the database holds nothing to sign in with.
 */
export function createSessions({ meta, config }: Pick<Kernel, 'meta' | 'config'>, accounts: Accounts) {
  const { sessions } = meta.tables(defineAuthTables)
  let sweptAt = 0
  const rotating = new Map<string, Promise<{ user: UserRow; cookie: RefreshCookie } | null>>()

  const lucia = new Lucia(createAdapter({ meta }, accounts), {
    sessionExpiresIn: new TimeSpan(LIFE_DAYS, 'd'),
    getSessionAttributes: ({ tokenVersion }) => ({ tokenVersion }),
    sessionCookie: {
      name: COOKIE,
      attributes: { path: '/', sameSite: 'lax', secure: config.publicUrl?.startsWith('https:') ?? false },
    },
  })

  const cookieOf = (value: string): RefreshCookie =>
    withDate(lucia.createSessionCookie(value).serialize(), nowMs() + LIFE_DAYS * DAY_MS)

  async function rotateOnce(id: string): Promise<{ user: UserRow; cookie: RefreshCookie } | null> {
    const { session } = await lucia.validateSession(id)
    const account = session && (await accounts.find(session.userId))
    if (!account || account.row.tokenVersion !== session?.tokenVersion) return null
    const value = randomHex80()
    // One statement, so that a value sent to two processes at once is exchanged once.
    const [rotated] = await meta.db
      .update(sessions)
      .set({ id: sha256(value), expiresAt: nowMs() + LIFE_DAYS * DAY_MS })
      .where(and(eq(sessions.id, id), eq(sessions.tokenVersion, account.row.tokenVersion)))
      .returning({ id: sessions.id })
    // `account` was read before: if the password changes now, the new token is void.
    return rotated ? { user: account.row, cookie: cookieOf(value) } : null
  }

  return {
    /**
     * Starts a session, valid until the user's token version changes.
     * @param also statements for the end of the transaction
     */
    async start({ id: userId, tokenVersion }: UserRow, also: MetaStatement[]): Promise<RefreshCookie> {
      const value = randomHex80()
      if (Date.now() - sweptAt > SWEEP_EVERY_MS) {
        sweptAt = Date.now()
        await lucia.deleteExpiredSessions()
      }
      // Not by Lucia, which has no transactions.
      const row = { id: sha256(value), userId, tokenVersion, expiresAt: nowMs() + LIFE_DAYS * DAY_MS }
      await meta.atomically([meta.db.insert(sessions).values(row), ...also])
      return cookieOf(value)
    },

    /**
     * Exchanges a refresh token for a new one; the old one becomes invalid. Null if it is unknown, used,
     * expired or revoked. Two tabs that send it at the same time share the new one.
     */
    rotate(value: string): Promise<{ user: UserRow; cookie: RefreshCookie } | null> {
      const id = sha256(value)
      const running = rotating.get(id) ?? rotateOnce(id).finally(() => rotating.delete(id))
      rotating.set(id, running)
      return running
    },

    endAll: (userId: string): Promise<void> => lucia.invalidateUserSessions(userId),
    end: (value: string): Promise<void> => lucia.invalidateSession(sha256(value)),
    blank: (): RefreshCookie => withDate(lucia.createBlankSessionCookie().serialize(), 0),

    /** The refresh token in a request's cookies, or null. */
    readCookie: (headers: Headers): string | null =>
      /(?:^|;\s*)refresh_token=([0-9a-f]{80})(?=;|$)/.exec(headers.get('cookie') ?? '')?.[1] ?? null,
  }
}

/** Lucia sets only Max-Age; REST clients that store cookies themselves read `Expires`. */
const withDate = (setCookie: string, endsAt: number): RefreshCookie => ({
  setCookie: `${setCookie}; Expires=${new Date(endsAt).toUTCString()}`,
})

/** Lucia's storage in our tables. */
function createAdapter({ meta }: Pick<Kernel, 'meta'>, accounts: Accounts): Adapter {
  const { sessions } = meta.tables(defineAuthTables)
  const asSession = (row: typeof sessions.$inferSelect): DatabaseSession => ({
    id: row.id,
    userId: row.userId,
    expiresAt: new Date(row.expiresAt),
    attributes: { tokenVersion: row.tokenVersion },
  })
  return {
    async getSessionAndUser(id) {
      const [row] = await meta.db.select().from(sessions).where(eq(sessions.id, id))
      const account = row && (await accounts.find(row.userId))
      return [row ? asSession(row) : null, account ? { id: account.row.id, attributes: {} } : null]
    },
    async getUserSessions(userId) {
      return (await meta.db.select().from(sessions).where(eq(sessions.userId, userId))).map(asSession)
    },
    async setSession({ id, userId, expiresAt, attributes }) {
      const { tokenVersion } = attributes
      await meta.db.insert(sessions).values({ id, userId, tokenVersion, expiresAt: expiresAt.getTime() })
    },
    async updateSessionExpiration(id, expiresAt) {
      await meta.db.update(sessions).set({ expiresAt: expiresAt.getTime() }).where(eq(sessions.id, id))
    },
    async deleteSession(id) {
      await meta.db.delete(sessions).where(eq(sessions.id, id))
    },
    async deleteUserSessions(userId) {
      await meta.db.delete(sessions).where(eq(sessions.userId, userId))
    },
    async deleteExpiredSessions() {
      await meta.db.delete(sessions).where(lte(sessions.expiresAt, nowMs()))
    },
  }
}

export interface SignedIn {
  token: string
  cookie: RefreshCookie
  user: UserRow
}

interface SessionParts {
  accounts: Accounts
  access: Access
  audits: Audits
  jwt: Jwt
  sessions: Sessions
  signUp: SignUp
  throttle: Throttle
  tokens: ApiTokens
}

/** Sign-up, sign-in, sign-out and password changes. */
export function createSessionService(
  { meta, config, limits }: Pick<Kernel, 'meta' | 'config' | 'limits'>,
  parts: SessionParts,
) {
  const { accounts, access, audits, jwt, sessions, signUp, throttle, tokens } = parts
  const { users, passwordResets } = meta.tables(defineAuthTables)
  const signUps = createHourlyLimit(
    { limits, name: 'sign-ups' },
    config.signUpsPerHour,
    m.auth_error_too_many_sign_ups,
  )

  async function start(
    user: UserRow,
    roles: 'object' | 'list',
    also: MetaStatement[] = [],
  ): Promise<SignedIn> {
    const cookie = await sessions.start(user, also)
    return { token: await jwt.sign(user, roles), cookie, user }
  }

  /**
   * Voids every access and refresh token of the user and, with a new password, reset links. Null if another call did so
   * at the same time.
   */
  async function endSessions(
    user: UserRow,
    kind: 'user.sign-out' | 'user.password-change',
    also: { passwordHash?: string } = {},
  ): Promise<UserRow | null> {
    const tokenVersion = randomHex80()
    const isOurs = and(eq(users.id, user.id), eq(users.tokenVersion, tokenVersion))
    const isDone = exists(meta.db.select({ id: users.id }).from(users).where(isOurs))
    const links = meta.db.delete(passwordResets).where(and(eq(passwordResets.userId, user.id), isDone))
    await meta.atomically([
      meta.db
        .update(users)
        .set({ ...also, tokenVersion, updatedAt: nowIso() })
        .where(and(eq(users.id, user.id), eq(users.tokenVersion, user.tokenVersion))),
      ...(also.passwordHash === undefined ? [] : [links]),
      ...audits.recordOwn(kind, user, isDone),
    ])
    const [row] = await meta.db.select().from(users).where(isOurs)
    await sessions.endAll(user.id)
    accounts.changed(user.id)
    return row ?? null
  }

  return {
    /**
     * Creates an account (see `createSignUp`) and signs in.
     * @throws BAD_REQUEST as there; TOO_MANY_REQUESTS after many failures or new accounts from the address
     */
    async signUp(input: SignUpInput, address: string): Promise<SignedIn & { isFirst: boolean }> {
      // Invitations are not limited: each is for one address.
      const attempt = () =>
        input.inviteToken
          ? signUp.signUp(input)
          : signUps.count('sign-up', address, () => signUp.signUp(input))
      const { user, isFirst } = await throttle.attempt(`sign-up ${emailKey(input.email)}`, address, attempt)
      return { ...(await start(user, 'list')), isFirst }
    },

    /**
     * @throws BAD_REQUEST for a wrong password and for an unknown address, with the same message and timing;
     * TOO_MANY_REQUESTS after many failures
     */
    async signIn(input: { email: string; password: string }, address: string): Promise<SignedIn> {
      const key = emailKey(input.email).slice(0, 256)
      const user = await throttle.attempt(`sign-in ${key}`, address, async () => {
        const found = await accounts.findByEmail(key)
        const password = input.password.slice(0, MAX_PASSWORD_LENGTH + 1)
        const matches = await verifyPassword(password, found?.passwordHash ?? null)
        if (found && matches) return found
        await audits.signInFailed(found?.id ?? null, key, address)
        throw badRequest(m.wire_error_credentials())
      })
      return start(user, 'object', audits.recordOwn('user.sign-in', user))
    },

    /** True if a request has a refresh token, valid or not. */
    isRemembered: (headers: Headers): boolean => sessions.readCookie(headers) !== null,

    /**
     * Exchanges the refresh token in the cookies for a new access token and cookie.
     * @throws BAD_REQUEST if it is missing, unknown, used, expired or revoked
     */
    async refresh(headers: Headers): Promise<SignedIn> {
      const value = sessions.readCookie(headers)
      if (value === null) throw badRequest(m.wire_error_missing_refresh_token())
      const rotated = await sessions.rotate(value)
      if (!rotated) throw badRequest(m.wire_error_refresh_token())
      return { ...rotated, token: await jwt.sign(rotated.user, 'list') }
    },

    /**
     * Ends all sessions of the actor and the one of the cookie, and returns a cookie that deletes it. Works
     * with an expired access token, too.
     * @throws FORBIDDEN without any token
     */
    async signOut(actor: Actor, headers: Headers): Promise<RefreshCookie> {
      if (!headers.has('xc-auth')) throw forbidden(m.wire_error_not_allowed())
      const value = sessions.readCookie(headers)
      if (value !== null) await sessions.end(value)
      const account = actor.kind === 'user' && actor.via === 'session' ? await accounts.find(actor.id) : null
      if (account) await endSessions(account.row, 'user.sign-out')
      return sessions.blank()
    },

    /**
     * Changes the actor's password, ends their sessions and reset links, and starts a new session. API tokens stay
     * valid unless `revokesTokens`.
     * @throws BAD_REQUEST for a wrong current password; TOO_MANY_REQUESTS after many failures
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
        if (!found || !matches) throw badRequest(m.wire_error_current_password())
        return found
      })
      const passwordHash = await hashPassword(input.newPassword)
      const changed = await endSessions(user, 'user.password-change', { passwordHash })
      // Another request ended the sessions while the hash was computed.
      if (!changed) throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
      if (input.revokesTokens) await tokens.deleteAllOf(actor, id)
      return start(changed, 'object')
    },
  }
}
