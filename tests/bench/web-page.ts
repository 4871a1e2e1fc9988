import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { FOOTER_HEIGHT, HEADER_HEIGHT } from '../../web/grid/layout.ts'
import type { Product } from './product.ts'
import { installProbe } from './web-probe.ts'

const VIEWPORT = { width: 1280, height: 800 }

/** A browser's profile, nothing in its cache, whose person is signed in already. */
export async function signedInContext(browser: Browser, { session }: Product): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  context.setDefaultTimeout(30_000)
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), session)
  await context.addInitScript(installProbe, { header: HEADER_HEIGHT, footer: FOOTER_HEIGHT })
  return context
}

/** The table in a tab, by default a new one, and the ms from the navigation to its first cells with values. */
export async function openTable(
  context: BrowserContext,
  { port, baseId, tableId }: Product,
  tab?: Page,
): Promise<{ page: Page; cdp: CDPSession; firstCellsMs: number }> {
  const page = tab ?? (await context.newPage())
  await page.goto(`http://127.0.0.1:${port}/#/nc/${baseId}/${tableId}`)
  const found = await page.waitForFunction(() => window.probe.firstCellsMs)
  return { page, cdp: await context.newCDPSession(page), firstCellsMs: Number(await found.jsonValue()) }
}
