import type { Base } from '../../src/core/model.ts'
import { BASE_ROLES, type BaseRole } from '../../src/core/roles.ts'
import type { TestApp, TestUser } from './app.ts'

let made = 0

/** Creates a base of `owner`, who needs the right to do so; the app's first user has it. */
export const createBase = (app: TestApp, owner: TestUser, title = `Base ${++made}`): Promise<Base> =>
  app.trpc(owner.token).bases.create.mutate({ title })

/** Creates an account with a role in the base. */
export async function createMember(app: TestApp, baseId: string, role: BaseRole): Promise<TestUser> {
  const user = await app.signUp(`${role}${++made}@example.com`)
  await app.services.auth.access.setMembership(baseId, user.id, role)
  return user
}

/** Creates one account per base role. */
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
