import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually, type GridPage, gridTests } from './grid-page.ts'

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

/** Closes a page and forgets its errors: the browser notes every request that found no server. */
async function closeDespiteErrors(grid: GridPage): Promise<void> {
  await grid.close()
  grid.problems.length = 0
}

const openAccount = (page: Page) =>
  page.evaluate(() => {
    location.hash = '#/account/profile'
  })

test('a script that an extension adds to the page may fail', async () => {
  const grid = await tests.open(FIELDS, [['apple']])
  const { page } = grid
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const failed = () =>
    new Promise<void>((resolve) => {
      const script = Object.assign(document.createElement('script'), {
        src: 'https://extension.invalid/script.js',
      })
      script.addEventListener('error', () => resolve())
      document.head.append(script)
    })
  await page.evaluate(failed)
  // After what the page would ask to see whether it may be reloaded.
  await page.evaluate(() => fetch('/api/v1/ready').then(() => {}))
  expect(asked).toContain('/api/v1/ready')
  expect(asked).not.toContain('/builds/latest.json')
  await closeDespiteErrors(grid)
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
    await closeDespiteErrors(grid)
  })

  test('a screen whose request fails once is shown', async () => {
    const grid = await tests.open(FIELDS, [['apple']])
    const { page } = grid
    const failed = new Set<string>()
    // What is fetched ahead of time has arrived: a use would request it again, and there is none.
    await page.waitForLoadState('networkidle')
    await page.route('**/assets/**', (route) => {
      const { pathname } = new URL(route.request().url())
      if (failed.has(pathname)) return route.continue()
      failed.add(pathname)
      return route.abort('connectionrefused')
    })
    await openAccount(page)
    await page.getByRole('heading', { name: 'Profile' }).first().waitFor()
    // All of a screen are requested at once.
    const styles = [...failed].filter((path) => path.endsWith('.css'))
    expect(styles.length).toBeGreaterThan(1)
    const loaded = () =>
      page.evaluate(() =>
        [...document.styleSheets].map(({ href }) => new URL(href ?? location.href).pathname),
      )
    await eventually(loaded, (now) => styles.every((path) => now.includes(path)))
    await closeDespiteErrors(grid)
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
    await closeDespiteErrors(grid)
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
    await closeDespiteErrors(grid)
  })
})
