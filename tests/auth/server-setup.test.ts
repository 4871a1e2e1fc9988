import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refusalOf } from '../records/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'

describe('trpc.app.setup', () => {
  let app: TestApp
  let admin: TestUser

  beforeAll(async () => {
    app = await createTestApp({
      database: 'sqlite',
      config: { publicUrl: 'https://sheaf.example.com', inviteOnlySignup: true },
    })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  test('is for super admins', async () => {
    const email = 'bob@example.com'
    const { body } = await app.rest(admin.token).post('/api/v1/users', { email })
    const account = { email, password: 'a long password', token: body.invite_token }
    const other = (await app.rest().post('/api/v1/auth/user/signup', account)).body
    expect((await refusalOf(app.trpc(other.token).app.setup.query())).status).toBe(403)
    expect((await refusalOf(app.trpc().app.setup.query())).status).toBe(401)
  })

  test('shows what only the environment sets', async () => {
    expect(await app.trpc(admin.token).app.setup.query()).toEqual({
      publicUrl: 'https://sheaf.example.com',
      database: 'sqlite',
      inviteOnlySignup: true,
    })
  })
})
