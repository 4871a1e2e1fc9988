import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Access, requireUser } from './access.ts'
import type { Accounts, UserRow } from './accounts.ts'
import { defineAuthTables } from './tables.ts'

export interface ProfilePatch {
  displayName?: string | null
  meta?: Record<string, unknown> | null
}

/** What people say of themselves. */
export function createProfile({ meta }: Pick<Kernel, 'meta'>, accounts: Accounts, access: Access) {
  const { users } = meta.tables(defineAuthTables)
  return {
    /** The actor's account; null for the anonymous. */
    async me(actor: Actor): Promise<UserRow | null> {
      return actor.kind === 'user' ? ((await accounts.find(actor.id))?.row ?? null) : null
    },

    /** Changes the actor's own name or picture. */
    async updateProfile(actor: Actor, patch: ProfilePatch): Promise<UserRow> {
      await access.authorize(actor, 'account.update')
      const { id } = requireUser(actor)
      const [row] = await meta.db
        .update(users)
        .set({ ...patch, updatedAt: new Date().toISOString() })
        .where(eq(users.id, id))
        .returning()
      if (!row) throw new Error(`The account ${id} is gone`)
      accounts.refreshed(id)
      return row
    },
  }
}
