import { launchBrowser } from '../support/chromium.ts'
import { findChromium, findTestBrowser } from '../support/find-binary.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'
import { measureForm } from './web-form.ts'
import { heapMb, measureHeap } from './web-heap.ts'
import { measureJumps } from './web-jump.ts'
import { measureFirstCells } from './web-open.ts'
import { openTable, signedInContext } from './web-page.ts'
import { WEB_PROMISES } from './web-promises.ts'
import { measureScrolling } from './web-scroll.ts'

/** The table in headless Chromium: its first cells, scrolling, jumps and the tab's heap, timed in the page itself. */
export async function measureBrowser(product: Product, rows: number): Promise<Line[]> {
  // As people have it, where it is installed.
  const chromium = findChromium() ?? findTestBrowser()
  if (chromium === null) return Object.values(WEB_PROMISES).map(notMeasured)
  const browser = await launchBrowser([], chromium)
  try {
    const firstCells = await measureFirstCells(browser, product)
    const form = await measureForm(browser, product)
    const { page, cdp } = await openTable(await signedInContext(browser, product), product)
    const beforeMb = await heapMb(cdp)
    const scrolling = await measureScrolling(page, cdp)
    const jumps = await measureJumps(page, rows)
    return [...firstCells, ...form, ...scrolling, ...jumps, await measureHeap(page, cdp, beforeMb)]
  } finally {
    await browser.close()
  }
}

function notMeasured({ work, promise }: { work: string; promise: string }): Line {
  const chosen = process.env.CHROMIUM_PATH
  const detail = chosen
    ? `there is no browser at CHROMIUM_PATH, ${chosen}`
    : 'Chromium is not installed: apt-get install chromium'
  return { work, promise, result: 'not measured', holds: null, detail }
}
