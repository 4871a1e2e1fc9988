import type { Person } from '../../../src/core/model.ts'
import type { AuthService } from '../../auth/index.ts'

/** The members of a base, as names and e-mails in values mean them. */
export async function membersOf(access: AuthService['access'], baseId: string): Promise<Person[]> {
  return (await access.members(baseId)).map(({ user: { id, email, displayName } }) => ({
    id,
    email,
    displayName,
  }))
}
