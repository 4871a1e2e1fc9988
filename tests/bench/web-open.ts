import type { Browser, Page } from 'playwright-core'
import type { Product } from './product.ts'
import type { Line } from './report.ts'
import { openTable, signedInContext } from './web-page.ts'
import { WEB_PROMISES } from './web-promises.ts'

const VISITS = 5

/** A table's address in a signed-in browser up to its first values: never been there, and been there before. */
export async function measureFirstCells(browser: Browser, product: Product): Promise<Line[]> {
  const loads: Load[] = []
  const cold: number[] = []
  const warm: number[] = []
  for (let visit = 0; visit < VISITS; visit++) {
    const context = await signedInContext(browser, product)
    const open = async () => {
      const { page, firstCellsMs } = await openTable(context, product)
      loads.push(await readLoad(page))
      // Chromium keeps compiled scripts from the second visit on, and writes its cache after the page has loaded.
      await Bun.sleep(500)
      await page.close()
      return firstCellsMs
    }
    cold.push(await open())
    await open()
    warm.push(await open())
    await context.close()
  }
  const [first] = loads
  if (!first) throw new Error('no visit was made')
  return [lineOf('cold', cold), lineOf('warm', warm), ...linesOf(first)]
}

/** What a page has fetched so far: requests, and what they brought as it was sent, in KB. */
interface Load {
  requests: number
  kb: number
}

const readLoad = (page: Page): Promise<Load> =>
  page.evaluate(() => {
    const fetched = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ].filter((entry) => entry instanceof PerformanceResourceTiming)
    return {
      requests: fetched.length,
      kb: fetched.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1024,
    }
  })

function linesOf({ requests, kb }: Load): Line[] {
  const { firstLoad, requests: allowed } = WEB_PROMISES
  return [
    {
      work: firstLoad.work,
      promise: firstLoad.promise,
      result: `${kb.toFixed(0)} KB`,
      holds: kb <= firstLoad.limit,
      detail: 'page, scripts, styles and answers up to the first cells',
    },
    {
      work: allowed.work,
      promise: allowed.promise,
      result: String(requests),
      holds: requests <= allowed.limit,
      detail: 'the same',
    },
  ]
}

function lineOf(cache: 'cold' | 'warm', visits: number[]): Line {
  const { work, promise, limit } = WEB_PROMISES[cache]
  const sorted = visits.toSorted((a, b) => a - b)
  const medianMs = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
  return {
    work,
    result: `${medianMs.toFixed(0)} ms`,
    promise,
    holds: medianMs < limit,
    detail: `median of ${visits.length} visits, ${sorted[0]?.toFixed(0)} to ${sorted.at(-1)?.toFixed(0)} ms`,
  }
}
