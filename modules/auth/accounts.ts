import { and, eq, isNull } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import type { Person, User } from '../../src/core/model.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { emailKey, parseEmail } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

/** Accounts held in memory at once; the rest is read again when they call. */
const MAX_CACHED_ACCOUNTS = 10_000

/** PostgreSQL fails on some texts, such as a null character, instead of not finding them. */
const USER_ID = /^us[a-z0-9]{14}$/

export type UserRow = ReturnType<typeof defineAuthTables>['users']['$inferSelect']

/** What every request needs to know of a user. */
export interface Account {
  row: UserRow
  /** One object per way to sign in, made once: requests share them. */
  actors: { session: UserActor; token: UserActor }
}

export type Accounts = ReturnType<typeof createAccounts>

/** The users of this server, with those who call held in memory. */
export function createAccounts({ meta, events }: Pick<Kernel, 'meta' | 'events'>) {
  const { users } = meta.tables(defineAuthTables)
  const cache = createReadCache<Account>(meta, MAX_CACHED_ACCOUNTS, 'accounts')
  const isLive = isNull(users.deletedAt)

  async function load(userId: string): Promise<Account | null> {
    if (!USER_ID.test(userId)) return null
    const [row] = await meta.db
      .select()
      .from(users)
      .where(and(eq(users.id, userId), isLive))
    return row ? { row, actors: { session: asActor(row, 'session'), token: asActor(row, 'token') } } : null
  }

  return {
    /** The account if it is at hand: what the fast path of authentication asks. */
    peek: cache.peek,

    find: (userId: string): Promise<Account | null> => cache.read(userId, () => load(userId)),

    /** By address, in any case. Read from the database, with the password hash as it is now. */
    async findByEmail(email: string): Promise<UserRow | null> {
      if (parseEmail(email) === null) return null
      const [row] = await meta.db
        .select()
        .from(users)
        .where(and(eq(users.emailKey, emailKey(email)), isLive))
      return row ?? null
    },

    /** To be called after a change of the user's name or the like is committed. */
    refreshed: (userId: string): void => cache.forget(userId),

    /** To be called after a change of their rights is committed: also cuts off what is connected. */
    changed(userId: string): void {
      cache.forget(userId)
      events.emit('access.changed', { userId })
    },
  }
}

const asActor = (row: UserRow, via: UserActor['via']): UserActor => ({
  kind: 'user',
  id: row.id,
  email: row.email,
  orgRoles: rolesOf(row),
  via,
})

/** Organisation roles are stored as a comma list. */
export const rolesOf = (row: Pick<UserRow, 'roles'>): string[] =>
  row.roles.split(',').filter((role) => role !== '')

export const asUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  displayName: row.displayName,
  roles: rolesOf(row),
})

export const asPerson = ({ id, email, displayName }: Person): Person => ({ id, email, displayName })
