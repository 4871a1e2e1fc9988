import type { CDPSession, Page } from 'playwright-core'
import type { Line } from './report.ts'
import { WEB_PROMISES } from './web-promises.ts'

/** Stops on a way through the whole table: each loads some hundred rows, together several times what the tab keeps. */
const STOPS = 100

/** What the tab's scripts hold, in MB, once everything that nobody holds is collected. */
export async function heapMb(cdp: CDPSession): Promise<number> {
  // Twice: what a finalizer let go in the first round goes in the second.
  await cdp.send('HeapProfiler.collectGarbage')
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1024 ** 2
}

/** The heap after a walk through the table from end to end, against `beforeMb`, when it had just been opened. */
export async function measureHeap(page: Page, cdp: CDPSession, beforeMb: number): Promise<Line> {
  for (let stop = 1; stop <= STOPS; stop++)
    await page.evaluate((share) => window.probe.timeScrollbar(share), stop / STOPS)
  const afterMb = await heapMb(cdp)
  const { work, promise, limit } = WEB_PROMISES.heap
  return {
    work,
    result: `${afterMb < beforeMb ? '−' : '+'}${Math.abs(afterMb - beforeMb).toFixed(1)} MB`,
    promise,
    holds: afterMb <= beforeMb + limit,
    detail: `${beforeMb.toFixed(1)} MB when opened, ${afterMb.toFixed(1)} MB after all of the above and ${STOPS} stops through the table`,
  }
}
