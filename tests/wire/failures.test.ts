import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { createTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.stop())

describe('a failure of the server while it finds out who asks', () => {
  // As the driver of a database that cannot be reached: its words hold the statement and its values.
  const authenticate = () => Promise.reject(new Error('select * from api_tokens where token_hash = secret'))

  test.each([
    '/trpc/auth.me',
    '/trpc/auth.me,app.info?batch=1',
    '/api/v1/db/meta/projects',
    '/api/v2/tables/x/records',
  ])('keeps its cause to itself at %s', async (path) => {
    const auth = { ...app.services.auth, authenticate }
    const failing = createApp(app.kernel, { ...app.services, auth })
    const answer = await failing.handle(
      new Request(`http://localhost${path}`, { headers: { 'xc-auth': 'x' } }),
    )
    expect(answer.status).toBe(500)
    expect(answer.headers.get('x-request-id')).toHaveLength(12)
    expect(await answer.text()).not.toMatch(/secret|api_tokens/)
  })
})
