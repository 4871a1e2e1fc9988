import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { gridTests } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]

/** Answers neither scripts nor the question whether the server is there, as while it restarts. Returns the end of that. */
async function goAway(page: Page): Promise<() => Promise<void>> {
  const paths = ['**/assets/**', '**/builds/latest.json']
  for (const path of paths) await page.route(path, (route) => route.abort('connectionrefused'))
  return async () => {
    for (const path of paths) await page.unroute(path)
  }
}

/** Waits in the end until the page has shown a text, though it may be gone by then. Looks from the next load of the page on, or now. */
async function watchFor(page: Page, text: string, isNow: boolean): Promise<() => Promise<unknown>> {
  const watch = (text: string) => {
    const look = () => {
      if (document.body?.textContent.includes(text)) Object.assign(window, { hasShown: true })
    }
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true })
  }
  await (isNow ? page.evaluate(watch, text) : page.addInitScript(watch, text))
  return () => page.waitForFunction(() => 'hasShown' in window)
}

const openAccount = (page: Page) =>
  page.evaluate(() => {
    location.hash = '#/account/profile'
  })

describe('while the server restarts', () => {
  test('a screen that is opened waits, and is shown once the server answers, without a reload', async () => {
    const grid = await tests.open(FIELDS, [['apple']])
    const { page } = grid
    await page.evaluate(() => {
      Object.assign(window, { isSamePage: true })
    })
    const comeBack = await goAway(page)
    const waitedFor = await watchFor(page, 'Connecting…', true)
    await openAccount(page)
    await waitedFor()
    await page.getByRole('heading', { name: 'The server can’t be reached' }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await comeBack()
    await page.getByRole('heading', { name: 'Profile' }).first().waitFor()
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
    // The browser notes every request that found no server.
    grid.problems.length = 0
  })

  test('a screen whose request fails once is shown', async () => {
    const grid = await tests.open(FIELDS, [['apple']])
    const { page } = grid
    const failed = new Set<string>()
    await page.route('**/assets/**', (route) => {
      const { pathname } = new URL(route.request().url())
      if (failed.has(pathname)) return route.continue()
      failed.add(pathname)
      return route.abort('connectionrefused')
    })
    await openAccount(page)
    await page.getByRole('heading', { name: 'Profile' }).first().waitFor()
    expect([...failed].some((path) => path.endsWith('.css'))).toBe(true)
    const unstyled = () =>
      [...document.querySelectorAll('link[rel="stylesheet"]')].filter(
        (link) => !('sheet' in link && link.sheet),
      ).length
    expect(await page.evaluate(unstyled)).toBe(0)
    grid.problems.length = 0
  })

  test('a page whose script is not answered says so, and opens once the server answers', async () => {
    const grid = await tests.open(FIELDS, [['apple']])
    const { page } = grid
    const comeBack = await goAway(page)
    const waitedFor = await watchFor(page, 'Connecting…', false)
    await page.reload()
    await waitedFor()
    await page.getByText('The server can’t be reached').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await comeBack()
    await grid.shows('Title', ['apple'])
    grid.problems.length = 0
  })

  test('a page whose script is missing for good is not reloaded again and again', async () => {
    const grid = await tests.open(FIELDS, [['apple']])
    const { page } = grid
    let loads = 0
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads++
    })
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
    await page.reload()
    await page.getByText('Part of the app could not be loaded').waitFor()
    expect(loads).toBe(4)
    await page.unroute('**/assets/*.js')
    await page.getByRole('button', { name: 'Try again' }).click()
    await grid.shows('Title', ['apple'])
    grid.problems.length = 0
  })
})
