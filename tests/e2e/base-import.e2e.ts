import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { airtableBase, airtableTable, linkTables } from '../base-imports/support.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { type BaserowServer, startBaserowServer } from '../support/baserow-server.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { startTeableServer, type TeableServer } from '../support/teable-server.ts'
import { see } from './shell-page.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let server: AirtableServer
let baserow: BaserowServer
let teable: TeableServer
let context: BrowserContext
/** Of its own for each attempt at a test. */
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
const zed = { id: 'usrZed', email: 'zed@example.com', name: 'Zed' }
const una = { id: 'usrUna', name: 'Una' }
const shifts = airtableTable('Shifts', { Name: 'singleLineText', Guard: 'singleCollaborator' }, [
  { Name: 'Early', Guard: zed },
  { Name: 'Late', Guard: zed },
  { Name: 'Night', Guard: una },
])
const crew = airtableBase('Crew', [shifts])

beforeAll(async () => {
  server = startAirtableServer({ bases: [base, crew] })
  baserow = startBaserowServer({
    databases: [
      {
        id: 5,
        name: 'Stock',
        tables: [
          {
            id: 1,
            name: 'Parts',
            fields: [
              { id: 1, name: 'Part', type: 'text', primary: true },
              { id: 2, name: 'Count', type: 'number', number_decimal_places: 0 },
              { id: 3, name: 'Secret', type: 'password' },
            ],
            views: [{ id: 1, name: 'All parts', type: 'grid' }],
            rows: [{ id: 1, field_1: 'Bolt', field_2: '12', field_3: true }],
          },
        ],
      },
      {
        id: 6,
        name: 'Watch',
        tables: [
          {
            id: 2,
            name: 'Nights',
            fields: [
              { id: 4, name: 'Night', type: 'text', primary: true },
              { id: 5, name: 'Guard', type: 'multiple_collaborators' },
            ],
            views: [],
            rows: [{ id: 1, field_4: 'First', field_5: [{ id: 8, name: 'Kim' }] }],
          },
        ],
      },
    ],
    users: [
      { user_id: 7, name: 'Lee', email: 'lee@example.com' },
      { user_id: 8, name: 'Kim', email: '' },
    ],
  })
  teable = startTeableServer({
    bases: [
      {
        id: 'bseTeam',
        name: 'Team',
        tables: [
          {
            id: 'tblPeople',
            name: 'People',
            fields: [
              { id: 'fldName', name: 'Name', type: 'singleLineText', isPrimary: true, options: {} },
              { id: 'fldPress', name: 'Press', type: 'button', options: {} },
            ],
            views: [],
            records: [{ id: 'recOne', createdTime: '2024-01-01T00:00:00.000Z', fields: { fldName: 'Ada' } }],
          },
        ],
      },
    ],
  })
  ;[app, browser] = await Promise.all([
    createTestApp({
      config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 100 },
    }),
    shareBrowser(),
  ])
  owner = await app.signUp('ada@example.com')
  context = await browser.newContext({ viewport: { width: 1100, height: 800 } })
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
})
beforeEach(async () => {
  await page?.close()
  page = await context.newPage()
})
afterAll(async () => {
  await closeContexts(browser)
  await app?.stop()
  await Promise.all([server, baserow, teable].map((one) => one?.stop()))
})

const dialog = () => page.getByRole('dialog')
const shot = async (name: string) => {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}

describe('the import of a base from another product', () => {
  async function openImport(): Promise<void> {
    await page.goto(`${app.url}/#/`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import from another product' }).click()
  }

  async function openFromList(source: string): Promise<void> {
    await openImport()
    await dialog().getByRole('button', { name: source, exact: true }).click()
    await dialog()
      .getByLabel('Address of the server')
      .fill(source === 'Baserow' ? baserow.url : teable.url)
  }

  test('shows why the source rejects the credentials', async () => {
    await openImport()
    await see(dialog().getByLabel('Personal access token'))
    expect(await axeViolations(page)).toEqual([])
    await shot('source')
    await dialog().getByLabel('Personal access token').fill('wrong')
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByText('does not accept the token'))
    await shot('wrong-token')
  })

  test('brings the chosen base, with progress and a report, and its changes on Sync again', async () => {
    await openImport()
    await dialog().getByLabel('Personal access token').fill('pat-test')
    await page.keyboard.press('Enter')
    await see(dialog().getByLabel('Title of the new base'))
    await shot('choose')
    expect(await axeViolations(page)).toEqual([])
    await dialog().getByLabel('Keep the credentials').check()
    const author = { id: 'usrZed', email: 'zed@example.com', name: 'Zed' }
    const comment = { id: 'comOne', author, text: 'First', createdTime: '2024-03-05T08:20:30.000Z' }
    notes.records[0]!.comments = [comment]
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

    books.records[0]!.fields[books.field('Title')] = `Another title ${crypto.randomUUID()}`
    comment.text = 'Edited'
    const readComments = () => server.requests.filter((path) => path.includes('/comments')).length
    const before = readComments()
    await dialog().getByLabel('Also compare comments of unchanged records').check()
    await dialog().getByRole('button', { name: 'Sync again' }).click()
    await see(dialog().getByRole('row', { name: /Books 120 0 1 0/ }))
    await see(dialog().getByText('Completed'))
    expect(readComments()).toBe(before + 1)
    await dialog().getByRole('button', { name: 'Open base' }).click()
    await see(page.getByRole('heading', { name: 'Library' }))
    await see(page.getByRole('link', { name: 'Books' }).first())
    await shot('base')

    // The base lists its imports, also on a narrow screen.
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

  test('matches people with members by hand, and invites them', async () => {
    await openImport()
    await dialog().getByLabel('Personal access token').fill('pat-test')
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Base to import').selectOption('Crew')
    await see(dialog().getByLabel('Names of people who are not members'))
    await dialog().getByLabel('Keep the credentials').check()
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByText('Completed'))
    await see(dialog().getByRole('heading', { name: '2 people in the source' }))
    await see(dialog().getByRole('row', { name: 'Zed zed@example.com 2 0 Member here for Zed: Nobody' }))
    expect(await axeViolations(page)).toEqual([])
    await shot('people')

    await dialog().getByRole('button', { name: 'Member here for Una: Nobody' }).click()
    await page.getByRole('menuitemradio', { name: 'ada@example.com' }).click()
    const una = dialog().getByRole('row', { name: 'Member here for Una: ada@example.com' })
    await see(una.getByText('Comes with Sync again'))
    // Una has no address to invite.
    expect(
      await dialog()
        .getByRole('button', { name: /^Invite / })
        .count(),
    ).toBe(1)
    await dialog().getByRole('button', { name: 'Invite Zed' }).click()
    const invitation = page.getByRole('dialog', { name: 'Invite to Crew' })
    await see(invitation.getByLabel('Email addresses'))
    expect(await invitation.getByLabel('Email addresses').inputValue()).toBe('zed@example.com')
    await invitation.getByRole('radio', { name: /^Viewer/ }).check()
    await invitation.getByRole('button', { name: 'Invite', exact: true }).click()
    await invitation.getByRole('button', { name: 'Done' }).click()
    await see(dialog().getByRole('row', { name: 'Member here for Zed: zed@example.com' }))
    await shot('people-chosen')

    await dialog().getByRole('button', { name: 'Sync again' }).click()
    await see(dialog().getByRole('row', { name: /Shifts 3 0 3 0/ }))
    await see(dialog().getByText('Completed'))
    await see(una.getByText('Chosen', { exact: true }))
    expect(await dialog().getByText('Comes with Sync again').count()).toBe(0)
    await dialog().getByRole('button', { name: 'Open base' }).click()
    await page.getByRole('link', { name: 'Shifts' }).first().click()
    await see(page.getByRole('gridcell', { name: 'zed@example.com' }).first())
  })

  test('brings a database of Baserow by an account, from the keyboard', async () => {
    await openFromList('Baserow')
    await see(dialog().getByLabel('Database token'))
    await shot('baserow-token')
    await dialog().getByLabel('Sign in with an account instead of a token').check()
    await dialog().getByLabel('E-mail address').fill('ann@example.com')
    await dialog().getByRole('textbox', { name: 'Password' }).fill('wrong')
    await page.keyboard.press('Enter')
    await see(dialog().getByText('Baserow does not accept the token'))
    expect(await axeViolations(page)).toEqual([])
    await shot('baserow-wrong')
    await dialog().getByRole('textbox', { name: 'Password' }).fill('secret')
    await page.keyboard.press('Enter')
    await see(dialog().getByLabel('Title of the new base'))
    await page.keyboard.press('Enter')
    await see(dialog().getByText('Completed'))
    await see(dialog().getByRole('row', { name: /Parts 1 1/ }))
    await see(dialog().getByText('The source does not hand out passwords'))
    await shot('baserow-completed')
    await dialog().getByRole('button', { name: 'Open base' }).click()
    await see(page.getByRole('heading', { name: 'Stock' }))
  })

  test('waits for the choice of members before anything is imported, if asked to', async () => {
    await openFromList('Baserow')
    await dialog().getByLabel('Sign in with an account instead of a token').check()
    await dialog().getByLabel('E-mail address').fill('ann@example.com')
    await dialog().getByRole('textbox', { name: 'Password' }).fill('secret')
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Base to import').selectOption('Watch')
    await dialog().getByLabel('Match people before anything is imported').check()
    await shot('match-first')
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByText('Paused'))
    await see(dialog().getByRole('heading', { name: '2 people in the source' }))
    await see(dialog().getByText('or invite people, then resume'))
    expect(
      await dialog()
        .getByRole('row', { name: /^Nights / })
        .count(),
    ).toBe(0)
    expect(await axeViolations(page)).toEqual([])
    await shot('match-first-paused')
    await dialog().getByRole('button', { name: 'Member here for Kim: Nobody' }).click()
    await page.getByRole('menuitemradio', { name: 'ada@example.com' }).click()
    await see(dialog().getByRole('row', { name: 'Member here for Kim: ada@example.com' }))
    await dialog().getByRole('button', { name: 'Resume' }).click()
    await see(dialog().getByText('Completed'))
    await see(dialog().getByRole('row', { name: /Nights 1 1/ }))
    await dialog().getByRole('button', { name: 'Open base' }).click()
    await page.getByRole('link', { name: 'Nights' }).first().click()
    await see(page.getByRole('gridcell', { name: 'ada@example.com' }).first())
  })

  test('brings an exported database of Baserow by its file', async () => {
    await openImport()
    await dialog().getByRole('button', { name: 'Baserow export' }).click()
    const fields = [{ id: 1, type: 'text', name: 'Part', order: 0, primary: true }]
    const rows = [{ id: 1, field_1: 'Nut' }]
    const tables = [{ id: 1, name: 'Spares', order: 1, fields, views: [], rows }]
    const items = [{ id: 5, name: 'Spare parts', files: { schema: 'database.json' } }]
    const archive = zipSync({
      'manifest.json': strToU8(JSON.stringify({ applications: { database: { items } } })),
      'database.json': strToU8(JSON.stringify({ tables })),
    })
    await dialog()
      .getByLabel('Export of a workspace')
      .setInputFiles({ name: 'export.zip', mimeType: 'application/zip', buffer: Buffer.from(archive) })
    await shot('baserow-export')
    expect(await axeViolations(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByLabel('Title of the new base'))
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByRole('row', { name: /Spares 1 1/ }))
    await see(dialog().getByText('neither comments'))
  })

  test('keeps the credentials on the way back, and its choices when one presses beside the dialog', async () => {
    await openFromList('Teable')
    await dialog().getByLabel('Personal access token').fill('teable_test')
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Title of the new base').fill('Another title')
    await page.mouse.click(5, 5)
    expect(await dialog().getByLabel('Title of the new base').inputValue()).toBe('Another title')
    await dialog().getByRole('button', { name: 'Back' }).click()
    await see(dialog().getByLabel('Address of the server'))
    expect(await dialog().getByLabel('Address of the server').inputValue()).toBe(teable.url)
    expect(await dialog().getByLabel('Personal access token').inputValue()).toBe('teable_test')
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByLabel('Title of the new base'))
  })

  test('shows the bases of the source that was asked, also if another one is chosen before it answers', async () => {
    const inspect = /\/trpc\/baseImports\.inspect/
    const answered = Promise.withResolvers<void>()
    await page.route(inspect, async (route) => {
      await answered.promise
      await route.continue()
    })
    await openFromList('Teable')
    await dialog().getByLabel('Personal access token').fill('teable_test')
    const asked = page.waitForRequest(inspect)
    await page.keyboard.press('Enter')
    await asked
    await dialog().getByRole('button', { name: 'Airtable', exact: true }).click()
    await dialog().getByLabel('Personal access token').fill('pat-test')
    answered.resolve()
    await see(dialog().getByLabel('Title of the new base'))
    const bases = dialog().getByLabel('Base to import').getByRole('option')
    expect(await bases.allTextContents()).toEqual(['Team'])
    await dialog().getByRole('button', { name: 'Back' }).click()
    await see(dialog().getByLabel('Address of the server'))
    expect(await dialog().getByLabel('Address of the server').inputValue()).toBe(teable.url)
    expect(await dialog().getByLabel('Personal access token').inputValue()).toBe('teable_test')
  })

  test('says that the connection is lost while a file is sent, and keeps the file on the way back', async () => {
    const parts = /\/api\/internal\/uploads\/[a-z0-9]{20}/
    await openImport()
    await dialog().getByRole('button', { name: 'Baserow export' }).click()
    const items = [{ id: 5, name: 'Nothing', files: { schema: 'database.json' } }]
    const archive = zipSync({
      'manifest.json': strToU8(JSON.stringify({ applications: { database: { items } } })),
      'database.json': strToU8(JSON.stringify({ tables: [] })),
    })
    await page.route(parts, (route) => route.abort('connectionreset'))
    await dialog()
      .getByLabel('Export of a workspace')
      .setInputFiles({ name: 'export.zip', mimeType: 'application/zip', buffer: Buffer.from(archive) })
    await see(dialog().getByText('Connection lost at 0%'))
    expect(await dialog().getByRole('button', { name: 'Connect' }).isDisabled()).toBe(true)
    await page.unroute(parts)
    await see(dialog().getByText('The file has been uploaded'))
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByLabel('Title of the new base'))
    await dialog().getByRole('button', { name: 'Back' }).click()
    await see(dialog().getByText('The file has been uploaded'))
    await dialog().getByRole('button', { name: 'Connect' }).click()
    await see(dialog().getByLabel('Title of the new base'))
  })

  test('brings a base of Teable by a token', async () => {
    await openFromList('Teable')
    await shot('teable')
    expect(await axeViolations(page)).toEqual([])
    await dialog().getByLabel('Personal access token').fill('teable_test')
    await page.keyboard.press('Enter')
    await see(dialog().getByLabel('Title of the new base'))
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByText('Completed'))
    await see(dialog().getByRole('row', { name: /People 1 1/ }))
    await shot('teable-completed')
    await page.setViewportSize({ width: 390, height: 800 })
    await dialog().getByRole('button', { name: 'Back' }).click()
    await see(dialog().getByRole('button', { name: 'Teable', exact: true }))
    await shot('teable-narrow')
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    expect(overflow).toBe(false)
  })
})
