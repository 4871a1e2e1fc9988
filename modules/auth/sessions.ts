import { and, eq, lte } from 'drizzle-orm'
import { type Adapter, type DatabaseSession, Lucia, TimeSpan } from 'lucia'
import type { Kernel } from '../../src/kernel.ts'
import type { Accounts, UserRow } from './accounts.ts'
import { randomHex80, sha256 } from './secrets.ts'
import { defineAuthTables } from './tables.ts'

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<{ tokenVersion: string }>
    DatabaseSessionAttributes: { tokenVersion: string }
  }
}

const COOKIE = 'refresh_token'
const LIFE_DAYS = 30
const DAY_MS = 24 * 60 * 60_000
/** Expired sessions are refused in any case; this is how often their rows are removed. */
const SWEEP_EVERY_MS = 60 * 60_000

/** A refresh token as the browser keeps it, and the cookie that hands it over. */
export interface RefreshCookie {
  /** Value of a `Set-Cookie` header. */
  setCookie: string
}

export type Sessions = ReturnType<typeof createSessions>

/**
 * Refresh tokens. Lucia keeps the sessions; this is the only file that knows it. A session's id is
 * the SHA-256 of the cookie's value, so the database holds nothing that one could sign in with.
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
    withDate(lucia.createSessionCookie(value).serialize(), Date.now() + LIFE_DAYS * DAY_MS)

  async function rotateOnce(id: string): Promise<{ user: UserRow; cookie: RefreshCookie } | null> {
    const { session } = await lucia.validateSession(id)
    const account = session && (await accounts.find(session.userId))
    if (!account || account.row.tokenVersion !== session?.tokenVersion) return null
    const value = randomHex80()
    // One statement: of two who come with the same value, in two processes, one gets a new one.
    const [rotated] = await meta.db
      .update(sessions)
      .set({ id: sha256(value), expiresAt: Date.now() + LIFE_DAYS * DAY_MS })
      .where(and(eq(sessions.id, id), eq(sessions.tokenVersion, account.row.tokenVersion)))
      .returning({ id: sessions.id })
    // `account` was read before: should the password change now, what is signed with it is void.
    return rotated ? { user: account.row, cookie: cookieOf(value) } : null
  }

  return {
    /** Starts a session of the user, void as soon as their token version moves on. */
    async start(user: UserRow): Promise<RefreshCookie> {
      const value = randomHex80()
      if (Date.now() - sweptAt > SWEEP_EVERY_MS) {
        sweptAt = Date.now()
        await lucia.deleteExpiredSessions()
      }
      await lucia.createSession(user.id, { tokenVersion: user.tokenVersion }, { sessionId: sha256(value) })
      return cookieOf(value)
    },

    /**
     * Takes a refresh token and gives its successor; the old one fails from then on. Null where it
     * is unknown, used, expired or revoked. Two tabs that come with it at the same instant share the
     * successor: none of them has had an answer yet.
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

    /** The refresh token among a request's cookies, or null. Text that is no token of ours is none. */
    readCookie: (headers: Headers): string | null =>
      /(?:^|;\s*)refresh_token=([0-9a-f]{80})(?=;|$)/.exec(headers.get('cookie') ?? '')?.[1] ?? null,
  }
}

/** Lucia gives the cookie's life in seconds; REST clients that keep cookies themselves read the date. */
const withDate = (setCookie: string, endsAt: number): RefreshCookie => ({
  setCookie: `${setCookie}; Expires=${new Date(endsAt).toUTCString()}`,
})

/** What Lucia stores, in our own tables. */
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
      await meta.db.delete(sessions).where(lte(sessions.expiresAt, Date.now()))
    },
  }
}
