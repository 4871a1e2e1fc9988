import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import type { Person, User } from '../../src/core/model.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { emailKey, parseEmail } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_ACCOUNTS = 10_000

/** Checked before querying: PostgreSQL fails on some texts, such as a null character. */
const USER_ID = /^us[a-z0-9]{14}$/

export type UserRow = ReturnType<typeof defineAuthTables>['users']['$inferSelect']

/** A user with the actors that requests share. */
export interface Account {
  row: UserRow
  /** One object for each way to sign in. */
  actors: { session: UserActor; token: UserActor }
}

export type Accounts = ReturnType<typeof createAccounts>

/** The users of this server, cached by id. */
export function createAccounts({ meta, events }: Pick<Kernel, 'meta' | 'events'>) {
  const { users } = meta.tables(defineAuthTables)
  const cache = createReadCache<Account, 'users'>(meta, {
    name: 'accounts',
    max: MAX_CACHED_ACCOUNTS,
    table: 'users',
    keyOf: ({ id }) => id,
  })
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
    /** The cached account, for the fast path of authentication. */
    peek: cache.peek,

    find: (userId: string): Promise<Account | null> => cache.read(userId, () => load(userId)),

    /** Finds an account by address, ignoring case. Bypasses the cache, so that the password hash is current. */
    async findByEmail(email: string): Promise<UserRow | null> {
      if (parseEmail(email) === null) return null
      const [row] = await meta.db
        .select()
        .from(users)
        .where(and(eq(users.emailKey, emailKey(email)), isLive))
      return row ?? null
    },

    /** Drops the cached profile. Call after a change to it is committed. */
    refreshed: (userId: string): void => cache.forget(userId),

    /** Call once a change of the user's rights is committed: also closes their connections. */
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

export const rolesOf = (row: Pick<UserRow, 'roles'>): string[] =>
  row.roles.split(',').filter((role) => role !== '')

export const asUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  displayName: row.displayName,
  roles: rolesOf(row),
})

export const asPerson = ({ id, email, displayName }: Person): Person => ({ id, email, displayName })

/** Matches a literal substring: % and _ are no wildcards. */
export function containsText(column: SQL.Aliased | Parameters<typeof eq>[0], text: string): SQL {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return sql`${column} like ${pattern} escape '\\'`
}
