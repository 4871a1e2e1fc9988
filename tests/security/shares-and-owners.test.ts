import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSecrets, type Secrets } from '../shares/world.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

describe('a link that is opened with a password', () => {
  const doors = () => [
    {
      path: `/api/v1/db/meta/projects/${world.baseId}/shared`,
      kind: 'base' as const,
      targetId: world.baseId,
    },
    { path: `/api/v2/meta/bases/${world.baseId}/shared`, kind: 'base' as const, targetId: world.baseId },
    { path: `/api/v1/db/meta/views/${world.viewId}/share`, kind: 'view' as const, targetId: world.viewId },
    { path: `/api/v2/meta/views/${world.viewId}/share`, kind: 'view' as const, targetId: world.viewId },
  ]

  test('is never open without it', async () => {
    for (const { path, kind, targetId } of doors()) {
      const { status, body } = await app.rest(owner.token).post(path, { password: 'open sesame' })
      expect([path, status]).toEqual([path, 200])
      const { id = '' } = (await world.trpc.shares.get.query({ kind, targetId })) ?? {}
      expect(body.uuid ?? id).toBe(id)
      const shared = { 'xc-shared-base-id': id }
      const visit = (password?: string) =>
        kind === 'base'
          ? app
              .rest({ ...shared, ...(password && { 'xc-password': password }) })
              .get(`/api/v2/tables/${world.tableId}/records/count`)
          : app
              .rest({ ...(password && { 'xc-password': password }) })
              .get(`/api/v1/db/public/shared-view/${id}/meta`)
      expect([path, (await visit()).status, (await visit('wrong one')).status]).toEqual([path, 403, 403])
      expect([path, (await visit('open sesame')).status]).toEqual([path, 200])
      await world.trpc.shares.close.mutate({ kind, targetId })
    }
  })

  test('is not made where the password does not fit', async () => {
    for (const { path, kind, targetId } of doors()) {
      for (const password of [7, 'x'.repeat(10_000), ...(kind === 'base' ? ['short'] : [])]) {
        const { status } = await app.rest(owner.token).post(path, { password })
        expect([path, status]).toEqual([path, 400])
        expect(await world.trpc.shares.get.query({ kind, targetId })).toBeNull()
      }
    }
  })
})

describe('DELETE /api/v1/users/{userId}', () => {
  test('refuses the only owner of a base and names it, until somebody else owns it', async () => {
    const leaver = await app.signUp('leaver@example.com')
    const admin = app.rest(owner.token)
    await admin.patch(`/api/v1/users/${leaver.id}`, { roles: 'org-level-creator' })
    const { id: baseId } = await createBase(app, leaver, 'Left behind')
    const refused = await admin.delete(`/api/v1/users/${leaver.id}`)
    expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining('“Left behind”')])
    expect((await app.trpc(leaver.token).auth.me.query()).user?.id).toBe(leaver.id)
    const successor = await createMember(app, baseId, 'owner')
    expect((await admin.delete(`/api/v1/users/${leaver.id}`)).status).toBe(200)
    // Of two owners who go, the second one stays.
    expect((await admin.delete(`/api/v1/users/${successor.id}`)).status).toBe(400)
    await app.trpc(successor.token).bases.delete.mutate({ baseId })
    expect((await admin.delete(`/api/v1/users/${successor.id}`)).status).toBe(200)
  })
})
