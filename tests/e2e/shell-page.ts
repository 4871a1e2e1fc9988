import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'

export const EMAIL = 'ada@example.com'
export const PASSWORD = 'correct horse battery'

/** A running server and a browser for the tests of one file, with what those tests do on their pages. */
export function setUpShell({
  withAccount = false,
  config,
}: {
  withAccount?: boolean
  config?: TestAppOptions['config']
} = {}) {
  let app: TestApp
  let browser: Browser
  const problems: string[] = []

  beforeAll(async () => {
    ;[app, browser] = await Promise.all([createTestApp({ config }), shareBrowser()])
    if (withAccount) {
      await app.rest().post('/api/v1/auth/user/signup', { email: EMAIL, password: PASSWORD })
    }
  })

  afterAll(async () => {
    await closeContexts(browser)
    await app?.stop()
  })

  /** A browser of its own, signed out. Whatever breaks in its pages is gathered in `problems`. */
  async function openBrowser(): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.on('weberror', (error) => problems.push(error.error().message))
    return context
  }

  async function openPage(path: string, context?: BrowserContext): Promise<Page> {
    const page = await (context ?? (await openBrowser())).newPage()
    await page.goto(`${app.url}/#${path}`)
    return page
  }

  async function openSignedIn(path = '/'): Promise<Page> {
    const page = await openPage(path)
    await fillCredentials(page)
    await signedIn(page)
    return page
  }

  /** The last test of a file: what broke in any page of the others. */
  const expectNoProblems = () =>
    test('no page of these tests broke', () => {
      expect(problems).toEqual([])
    })

  return { app: () => app, openBrowser, openPage, openSignedIn, expectNoProblems }
}

export const see = (locator: Locator) => locator.waitFor({ state: 'visible' })
export const route = (page: Page) => new URL(page.url()).hash.slice(1)
export const arrivesAt = (page: Page, path: RegExp) => page.waitForURL((url) => path.test(url.hash.slice(1)))

export async function fillCredentials(page: Page, password = PASSWORD, email = EMAIL): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
}

/** Waits until the page knows who is there: only then does it offer what they may do. */
export const signedIn = (page: Page) =>
  see(page.getByRole('button', { name: 'Account menu' }).getByText('A', { exact: true }))

/** A title that no attempt at a test has used before. */
export const unused = (title: string): string => `${title} ${crypto.randomUUID().slice(0, 8)}`

/** Makes a base named so and leaves the page on its home. */
export async function createBase(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Alt+d')
  await see(page.getByRole('dialog', { name: 'New base' }))
  await page.keyboard.type(title)
  await page.keyboard.press('Enter')
  await see(page.getByRole('heading', { level: 1, name: title }))
}

export async function createTable(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Alt+t')
  await see(page.getByRole('dialog', { name: 'New table' }))
  await page.keyboard.type(title)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await see(tableLink(page, title))
}

export const tree = (page: Page) => page.getByRole('navigation', { name: 'Tables' })
export const tableLink = (page: Page, title: string) =>
  tree(page).getByRole('link', { name: title, exact: true })
