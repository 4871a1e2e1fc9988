import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'

const NEW = 'another password'

describe.each(META_DATABASES)('API tokens at a new password on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  const newToken = async (user: TestUser, description: string): Promise<string> =>
    (await app.rest(user.token).post('/api/v1/tokens', { description })).body.token
  const works = async (token: string) =>
    (await app.rest({ 'xc-token': token }).get('/api/v1/auth/user/me')).body.email !== undefined
  const resetLink = async (user: TestUser): Promise<string> => {
    const { body } = await app.rest(admin.token).post(`/api/v1/users/${user.id}/generate-reset-url`)
    return body.reset_password_token
  }

  test('are named by the reset link, and go on working unless they are revoked', async () => {
    const user = await app.signUp()
    const validate = async () =>
      (await app.rest().post(`/api/v1/auth/token/validate/${await resetLink(user)}`)).body
    expect(await validate()).toEqual({ msg: 'Token has been validated successfully' })
    const token = await newToken(user, 'Nightly report')
    const [told] = (await validate()).api_tokens
    expect(told.description).toBe('Nightly report')
    expect(told.token).toEndWith(token.slice(-4))
    expect(JSON.stringify(told)).not.toContain(token)
    const path = async () => `/api/v1/auth/password/reset/${await resetLink(user)}`
    expect((await app.rest().post(await path(), { password: NEW })).status).toBe(200)
    expect(await works(token)).toBe(true)
    expect((await app.rest().post(await path(), { password: NEW, revoke_tokens: 'yes' })).status).toBe(400)
    expect(await works(token)).toBe(true)
    expect((await app.rest().post(await path(), { password: NEW, revoke_tokens: true })).status).toBe(200)
    expect(await works(token)).toBe(false)
  })

  test('end with a password that is changed, where that is asked for', async () => {
    const user = await app.signUp()
    const other = await app.signUp()
    const token = await newToken(user, 'Mine')
    const stranger = await newToken(other, 'Of somebody else')
    const change = { currentPassword: PASSWORD, newPassword: NEW }
    const { token: session } = await app.trpc(user.token).auth.changePassword.mutate(change)
    expect(await works(token)).toBe(true)
    const again = { currentPassword: NEW, newPassword: PASSWORD, revokesTokens: true }
    const { token: latest } = await app.trpc(session).auth.changePassword.mutate(again)
    expect([await works(token), await works(stranger)]).toEqual([false, true])
    const third = await newToken({ ...user, token: latest }, 'New')
    const body = { currentPassword: PASSWORD, newPassword: NEW, revoke_tokens: true }
    expect((await app.rest(latest).post('/api/v1/auth/password/change', body)).status).toBe(200)
    expect(await works(third)).toBe(false)
  })
})
