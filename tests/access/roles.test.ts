import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { WORKSPACE_ROLES } from '../../src/core/roles.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

describe.each(META_DATABASES)('roles on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  test('a refusal names the action and the role', async () => {
    const { id } = await createBase(app, admin)
    const editor = await createMember(app, id, 'editor')
    const { status, body } = await app
      .rest(editor.token)
      .patch(`/api/v1/db/meta/projects/${id}`, { title: 'x' })
    expect(status).toBe(403)
    expect(body).toEqual({
      error: 'PERMISSION_DENIED',
      message: 'You do not have permission to perform the action "baseUpdate" with the roles: Editor.',
      details: { permissionName: 'baseUpdate', roles: { editor: true } },
    })
  })

  test('a workspace role counts in every base, but where the base gives one of its own', async () => {
    const { id } = await createBase(app, admin)
    const { memberships } = app.kernel.meta.tables(defineAuthTables)
    for (const role of WORKSPACE_ROLES) {
      const user = await app.signUp()
      const row = { scope: 'workspace' as const, scopeId: 'nc', userId: user.id, role, createdAt: '' }
      await app.kernel.meta.db.insert(memberships).values(row)
      const roleHere = async () => {
        const me = await app.rest(user.token).get(`/api/v1/auth/user/me?base_id=${id}`)
        return Object.keys(me.body.base_roles)
      }
      expect(await roleHere()).toEqual([role.replace('workspace-level-', '')])
      await app.services.auth.access.setMembership(id, user.id, 'commenter')
      expect(await roleHere()).toEqual(['commenter'])
    }
  })

  test('a right of a base cannot be asked for without a base', () => {
    const actor = app.services.auth.authenticate(new Headers({ 'xc-auth': admin.token }))
    const ask = Promise.resolve(actor).then((known) => app.services.auth.access.authorize(known, 'base.read'))
    expect(ask).rejects.toThrow('no base was named')
  })
})
