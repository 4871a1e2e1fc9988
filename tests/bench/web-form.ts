import type { Browser } from 'playwright-core'
import { createTrpcClient } from '../support/client.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'
import { recordLoad } from './web-load.ts'
import { loadLine } from './web-open.ts'

/** A public form over the table, up to its questions: what a visitor without a cache loads. */
export async function measureForm(browser: Browser, product: Product): Promise<Line[]> {
  const url = `http://127.0.0.1:${product.port}`
  const trpc = createTrpcClient(url, product.session)
  const view = await trpc.views.create.mutate({ tableId: product.tableId, title: 'Order', kind: 'form' })
  const share = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
  const open = async (encodings: ('gzip' | 'br')[]) => {
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      const load = await recordLoad(page, { encodings })
      const startedAt = performance.now()
      await page.goto(`${url}/form#/nc/form/${share.id}`, { waitUntil: 'commit' })
      await page.waitForSelector('[data-testid="question"]')
      return { ms: performance.now() - startedAt, ...load() }
    } finally {
      await context.close()
    }
  }
  try {
    const gzipped = await open(['gzip'])
    const brotlied = await open(['br', 'gzip'])
    const detail = `with Brotli ${brotlied.kb.toFixed(0)} KB; ${view.fields.length} fields`
    return [
      loadLine('form', gzipped.kb, detail),
      loadLine('formRequests', gzipped.requests.length, `drawn after ${gzipped.ms.toFixed(0)} ms`),
    ]
  } finally {
    await trpc.views.delete.mutate({ viewId: view.id })
  }
}
