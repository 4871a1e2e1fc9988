import type { Browser, Page } from 'playwright-core'
import { createTrpcClient } from '../support/client.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'
import { WEB_PROMISES } from './web-promises.ts'

/** Kilobytes of scripts that a page has fetched so far, as they were sent: compressed. */
export const scriptKb = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const scripts = performance
      .getEntriesByType('resource')
      .filter((entry) => entry instanceof PerformanceResourceTiming && /\.js(\?|$)/.test(entry.name))
    return (
      scripts.reduce(
        (sum, entry) => sum + (entry instanceof PerformanceResourceTiming ? entry.encodedBodySize : 0),
        0,
      ) / 1024
    )
  })

/** A public form over the table, up to its questions: how much script a visitor without a cache fetches. */
export async function measureForm(browser: Browser, product: Product): Promise<Line> {
  const url = `http://127.0.0.1:${product.port}`
  const trpc = createTrpcClient(url, product.session)
  const view = await trpc.views.create.mutate({ tableId: product.tableId, title: 'Order', kind: 'form' })
  const share = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const startedAt = performance.now()
    await page.goto(`${url}/form#/nc/form/${share.id}`)
    await page.waitForSelector('[data-testid="question"]')
    const ms = performance.now() - startedAt
    const kb = await scriptKb(page)
    const { work, promise, limit } = WEB_PROMISES.form
    const detail = `${view.fields.length} fields, drawn after ${ms.toFixed(0)} ms`
    return { work, promise, result: `${kb.toFixed(0)} KB`, holds: kb <= limit, detail }
  } finally {
    await context.close()
    await trpc.views.delete.mutate({ viewId: view.id })
  }
}
