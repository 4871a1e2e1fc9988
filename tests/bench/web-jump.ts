import type { Page } from 'playwright-core'
import type { Line } from './report.ts'
import type { Jump } from './web-probe.ts'
import { WEB_PROMISES } from './web-promises.ts'

/** Where the scrollbar is put, as shares of its way. */
const PLACES = [0.5, 0.9, 0.2, 0.7, 0.35]

/** Ctrl+End and the scrollbar, each to rows that are not loaded, up to rows on the screen. The longest counts. */
export async function measureJumps(page: Page, rows: number): Promise<Line[]> {
  await page.locator('[role="gridcell"]').first().click()
  const jump = page.evaluate(() => window.probe.timeKey())
  // What the page is asked first it does first: once this is answered, it listens for the key.
  await page.evaluate(() => {})
  await page.keyboard.press('Control+End')
  const byKey = await jump
  // A jump to somewhere else, or in a shorter table, would be another measurement.
  await page.waitForSelector(`[data-testid="row"][data-index="${rows - 1}"]`, { timeout: 1000 })
  const byScrollbar: Jump[] = []
  for (const place of PLACES) {
    await Bun.sleep(300)
    byScrollbar.push(await page.evaluate((share) => window.probe.timeScrollbar(share), place))
  }
  return [lineOf('key', [byKey]), lineOf('scrollbar', byScrollbar)]
}

function lineOf(way: 'key' | 'scrollbar', jumps: Jump[]): Line {
  const { work, promise, limit } = WEB_PROMISES[way]
  const paintedMs = Math.max(...jumps.map((jump) => jump.paintedMs))
  const loadedMs = Math.max(...jumps.map((jump) => jump.loadedMs))
  return {
    work,
    result: `${paintedMs.toFixed(0)} ms`,
    promise,
    holds: paintedMs < limit,
    detail: `${jumps.length > 1 ? `the longest of ${jumps.length}; ` : ''}with values after ${loadedMs.toFixed(0)} ms`,
  }
}
