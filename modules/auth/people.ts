import { inArray } from 'drizzle-orm'
import type { Person } from '../../src/core/model.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from './access.ts'
import { asPerson } from './accounts.ts'
import { defineAuthTables } from './tables.ts'

/**
 * Someone as visitors of public links are told of them: by their name, or where they have given none by the
 * part of their address before the @. Never the address.
 */
export const asPublicPerson = ({ id, email, displayName }: Person): Person => ({
  id,
  email: '',
  displayName: displayName?.trim() || (email.split('@')[0] ?? ''),
})

/** Names for the ids that records keep. */
export function createPeople({ meta }: Pick<Kernel, 'meta'>, access: Access) {
  const { users } = meta.tables(defineAuthTables)

  return {
    /** The people of these ids, also those whose account was deleted: what they wrote keeps their name. */
    async people(ids: string[]): Promise<Person[]> {
      if (ids.length === 0) return []
      return (await meta.db.select().from(users).where(inArray(users.id, ids))).map(asPerson)
    },

    /** The members of a base. */
    async peopleOf(baseId: string): Promise<Person[]> {
      return (await access.members(baseId)).map(({ user }) => asPerson(user))
    },
  }
}
