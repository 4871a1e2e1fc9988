import type { Browser } from 'playwright-core'
import type { Product } from './product.ts'
import type { Line } from './report.ts'
import type { Load, LoadConditions } from './web-load.ts'
import { recordLoad } from './web-load.ts'
import { openTable, signedInContext } from './web-page.ts'
import { WEB_PROMISES } from './web-promises.ts'

const VISITS = 5
/** A distant server over a phone's connection. */
const SLOW = { latencyMs: 50, megabitPerSecond: 5 }

/** A table's address in a signed-in browser up to its first values: never been there, and been there before. */
export async function measureFirstCells(browser: Browser, product: Product): Promise<Line[]> {
  const cold: number[] = []
  const warm: number[] = []
  const slow: number[] = []
  for (let visit = 0; visit < VISITS; visit++) {
    const context = await signedInContext(browser, product)
    const open = async () => {
      const { page, firstCellsMs } = await openTable(context, product)
      // Chromium keeps compiled scripts from the second visit on, and writes its cache after the page has loaded.
      await Bun.sleep(500)
      await page.close()
      return firstCellsMs
    }
    cold.push(await open())
    await open()
    warm.push(await open())
    await context.close()
    slow.push((await openCold(browser, product, { network: SLOW })).firstCellsMs)
  }
  const gzipped = (await openCold(browser, product, { encodings: ['gzip'] })).load
  const brotlied = (await openCold(browser, product, { encodings: ['br', 'gzip'] })).load
  return [
    lineOf('cold', cold),
    lineOf('warm', warm),
    lineOf('slow', slow),
    loadLine(
      'firstLoad',
      gzipped.kb,
      `with Brotli ${brotlied.kb.toFixed(0)} KB; page, files and answers, with headers`,
    ),
    loadLine('requests', gzipped.requests.length, 'the same'),
  ]
}

/** One visit with an empty cache. */
async function openCold(
  browser: Browser,
  product: Product,
  conditions: LoadConditions,
): Promise<{ firstCellsMs: number; load: Load }> {
  const context = await signedInContext(browser, product)
  try {
    const page = await context.newPage()
    const load = await recordLoad(page, conditions)
    const { firstCellsMs } = await openTable(context, product, page)
    return { firstCellsMs, load: load('/trpc/records.list') }
  } finally {
    await context.close()
  }
}

/** A line about the size of a first load: KB, or a number of requests. */
export function loadLine(
  name: 'firstLoad' | 'requests' | 'form' | 'formRequests',
  measured: number,
  detail: string,
): Line {
  const { work, promise, limit } = WEB_PROMISES[name]
  const result = promise.endsWith('KB') ? `${measured.toFixed(0)} KB` : String(measured)
  return { work, promise, result, holds: measured <= limit, detail }
}

function lineOf(cache: 'cold' | 'warm' | 'slow', visits: number[]): Line {
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
