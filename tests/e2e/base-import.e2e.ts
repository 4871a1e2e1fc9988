import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { airtableBase, airtableTable, linkTables } from '../base-imports/support.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { launchBrowser } from '../support/chromium.ts'
import { see } from './shell-page.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let server: AirtableServer
let page: Page

const books = airtableTable(
  'Books',
  { Title: 'singleLineText', Odd: 'somethingNew' },
  Array.from({ length: 120 }, (_, index) => ({ Title: `Book ${index}` })),
)
const notes = airtableTable('Notes', { Note: 'singleLineText' }, [{ Note: 'first' }])
const link = linkTables(notes, 'Book', books, 'Notes')
link(notes.records[0]!, books.records[0]!)
const base = airtableBase('Library', [books, notes])

beforeAll(async () => {
  server = startAirtableServer({ bases: [base] })
  ;[app, browser] = await Promise.all([
    createTestApp({
      config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 100 },
    }),
    launchBrowser(),
  ])
  owner = await app.signUp('ada@example.com')
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } })
  context.setDefaultTimeout(10_000)
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
  page = await context.newPage()
})
afterAll(async () => {
  await browser?.close()
  await app?.stop()
  await server?.stop()
})

const dialog = () => page.getByRole('dialog')
const shot = async (name: string) => {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}

describe('the import of a base from another product', () => {
  test('shows why the source rejects the credentials', async () => {
    await page.goto(`${app.url}/#/`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import from another product' }).click()
    await see(dialog().getByLabel('Personal access token'))
    expect(await axeViolations(page)).toEqual([])
    await shot('source')
    await dialog().getByLabel('Personal access token').fill('wrong')
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByText('does not accept the token'))
    await shot('wrong-token')
  })

  test('brings the chosen base, with progress and a report', async () => {
    await dialog().getByLabel('Personal access token').fill('pat-test')
    await page.keyboard.press('Enter')
    await see(dialog().getByLabel('Title of the new base'))
    await shot('choose')
    expect(await axeViolations(page)).toEqual([])
    await dialog().getByLabel('Keep the credentials').check()
    const released = Promise.withResolvers<void>()
    server.delays.set(`/v0/${base.id}/${notes.id}`, () => released.promise)
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByText('Reading records'))
    await see(dialog().getByRole('row', { name: /Books 120 120/ }))
    await shot('running')
    released.resolve()
    server.delays.clear()
    await see(dialog().getByText('Completed'))
    await see(dialog().getByText('Fields of the type “somethingNew” are unknown'))
    await shot('completed')
    expect(await axeViolations(page)).toEqual([])
  })

  test('brings changes on Sync again', async () => {
    books.records[0]!.fields[books.field('Title')] = 'Another title'
    await dialog().getByRole('button', { name: 'Sync again' }).click()
    await see(dialog().getByRole('row', { name: /Books 120 0 1 0/ }))
    await dialog().getByRole('button', { name: 'Open base' }).click()
    await see(page.getByRole('heading', { name: 'Library' }))
    await see(page.getByRole('link', { name: 'Books' }).first())
    await shot('base')
  })

  test('fits a narrow screen, and lists earlier imports in the base', async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Import from another product' }).click()
    await see(dialog().getByText('Earlier imports'))
    await shot('narrow')
    await dialog().getByRole('button', { name: 'Open', exact: true }).click()
    await see(dialog().getByText('Completed'))
    await shot('narrow-run')
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    expect(overflow).toBe(false)
  })
})
