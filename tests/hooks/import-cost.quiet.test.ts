import { afterAll, beforeAll, expect, test } from 'bun:test'
import { measureImports } from '../bench/hooks.ts'
import { type Product, startProduct } from '../bench/product.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'

const ROWS = 200_000

let product: Product
let receiver: OutboundRecorder
beforeAll(async () => {
  receiver = startOutboundRecorder()
  product = await startProduct(0, { ALLOW_LOCAL_HTTP: 'true' })
})
afterAll(async () => {
  await product.stop()
  await receiver.stop()
})

test('an import with a webhook takes at most a tenth more processor time, and is one call', async () => {
  const received = () => receiver.requests.length
  const { holds, result, detail } = await measureImports(product, `${receiver.url}/hook`, received, ROWS)
  console.info(`an import of ${ROWS} records with a webhook: ${result} (${detail})`)
  expect(holds).toBe(true)
}, 300_000)
