import { expect, test } from 'bun:test'
import { createTestApp } from '../support/app.ts'

const CALLS = 2_000

test('someone who was seen before is recognised in under 20 µs', async () => {
  const app = await createTestApp({ database: 'sqlite' })
  const { token } = await app.signUp()
  const headers = new Headers({ 'xc-auth': token })
  const { authenticate } = app.services.auth
  await authenticate(headers)
  // The quickest of some turns: others may have had the processor during one.
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 10; turn++) {
    const start = performance.now()
    for (let call = 0; call < CALLS; call++) void authenticate(headers)
    best = Math.min(best, ((performance.now() - start) / CALLS) * 1000)
  }
  expect(best).toBeLessThan(20)
  await app.stop()
})
