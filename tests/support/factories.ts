import type { Base } from '../../src/core/model.ts'
import { BASE_ROLES, type BaseRole } from '../../src/core/roles.ts'
import type { TestApp, TestUser } from './app.ts'

let made = 0

/** A base of `owner`, who must be allowed to create bases: the app's first user is. */
export const createBase = (app: TestApp, owner: TestUser, title = `Base ${++made}`): Promise<Base> =>
  app.trpc(owner.token).bases.create.mutate({ title })

/** A new account with a role in the base. */
export async function createMember(app: TestApp, baseId: string, role: BaseRole): Promise<TestUser> {
  const user = await app.signUp(`${role}${++made}@example.com`)
  await app.services.auth.access.setMembership(baseId, user.id, role)
  return user
}

/** One new account for each base role. */
export async function createMemberOfEachRole(
  app: TestApp,
  baseId: string,
): Promise<Record<BaseRole, TestUser>> {
  const members = await Promise.all(BASE_ROLES.map((role) => createMember(app, baseId, role)))
  return Object.fromEntries(BASE_ROLES.map((role, index) => [role, members[index]!])) as Record<
    BaseRole,
    TestUser
  >
}
