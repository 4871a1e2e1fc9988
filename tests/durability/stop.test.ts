import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createTestApp } from '../support/app.ts'

test('stopping waits for requests, but not for a client that never ends its own', async () => {
  const app = await createTestApp()
  const { token } = await app.signUp()
  // A job that goes on until it is stopped, and a client that waits for news of it.
  app.kernel.jobs.register('endless', {
    run: (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    recover: async () => null,
  })
  const { id } = await app.kernel.jobs.start('endless', { userId: 'us0', baseId: null, input: {} })
  const listen = fetch(`${app.url}/jobs/listen`, {
    method: 'POST',
    headers: { 'xc-auth': token, 'content-type': 'application/json' },
    body: JSON.stringify({ _mid: 2, data: { id } }),
  }).catch(() => null)
  const { hostname, port } = new URL(app.url)
  const slow = connect(Number(port), hostname)
  slow.on('error', () => {})
  slow.write('POST /api/internal/uploads HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n')
  slow.write(`content-type: application/octet-stream\r\nxc-auth: ${token}\r\n\r\na`)
  const hashing = fetch(`${app.url}/api/v1/auth/user/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'late@example.com', password: 'correct horse battery' }),
  })
  // What is answered now was asked later: the server has begun with the others.
  for (let asked = 0; asked < 3; asked++) await fetch(`${app.url}/api/v1/health`)
  const startedAt = performance.now()
  await app.stop()
  expect(performance.now() - startedAt).toBeLessThan(30_000)
  expect((await hashing).status).toBe(200)
  await listen
  slow.destroy()
})
