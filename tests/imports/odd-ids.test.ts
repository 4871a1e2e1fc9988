import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'

// PostgreSQL fails on some texts instead of not finding them.
describe.each([...META_DATABASES])('an id that nothing can have, metadata in %s', (database) => {
  let app: TestApp
  let owner: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    owner = await app.signUp()
  })
  afterAll(() => app.stop())

  test('is no kind of job either', async () => {
    const base = await app.trpc(owner.token).bases.create.mutate({ title: 'Odd' })
    const answer = await app.rest(owner.token).post(`/api/v2/jobs/${base.id}`, { job: '\u0000' })
    expect(answer.status).toBe(400)
  })

  test.each(['\u0000', 'job\u0000', '\ud800', '../../sheaf.db', "' or 1=1"])(
    'is not found: %j',
    async (id) => {
      const rest = app.rest(owner.token)
      expect((await rest.post('/jobs/listen', { _mid: 0, data: { id } })).body).toEqual({ status: 'refresh' })
      const name = encodeURIComponent(id.toWellFormed())
      expect((await rest.get(`/api/internal/uploads/${name}`)).status).toBe(404)
      expect((await rest.get(`/api/internal/jobs/${name}/report`)).status).toBe(404)
      const trpc = app.trpc(owner.token)
      await expect(trpc.jobs.get.query({ jobId: id })).rejects.toMatchObject({ data: { httpStatus: 404 } })
    },
  )
})
