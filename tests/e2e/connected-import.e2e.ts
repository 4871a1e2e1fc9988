import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import type { Base } from '../../src/core/model.ts'
import { createForeign, type ForeignDatabase, jobEnd } from '../sources/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { createBase } from '../support/factories.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { see } from './shell-page.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let page: Page
let base: Base
let foreign: ForeignDatabase

beforeAll(async () => {
  ;[app, browser, foreign] = await Promise.all([
    createTestApp(),
    shareBrowser(),
    createForeign('postgres', [
      `create table item (id serial primary key, name varchar(10) not null, price numeric(8,2) check (price >= 0),
        doubled numeric generated always as (price * 2) stored)`,
      'create table person (code text primary key, name text not null)',
      'create view cheap as select name, price from item where price < 10',
    ]),
  ])
  owner = await app.signUp('ada@example.com')
  base = await createBase(app, owner)
  const api = app.trpc(owner.token)
  const { id } = await api.sources.create.mutate({ baseId: base.id, ...foreign.sent })
  expect((await jobEnd({ app }, id)).status).toBe('completed')
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } })
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
  page = await context.newPage()
})
afterAll(async () => {
  await closeContexts(browser)
  await app?.stop()
  await foreign?.stop()
})

/** The last year that a table has been made for. */
let years = 2020

const dialog = () => page.getByRole('dialog')
const importButton = () =>
  dialog()
    .getByRole('button', { name: /^Import|^Preview/ })
    .last()
const shot = async (name: string) => {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}

/** Opens the import from the base's home and chooses a file. */
async function chooseFile(name: string, text: string): Promise<void> {
  await page.goto(`${app.url}/#/nc/${base.id}`)
  await page.reload()
  await page.getByRole('button', { name: /^Import data/ }).click()
  const chooser = page.waitForEvent('filechooser')
  await dialog().getByRole('button', { name: 'Choose files' }).click()
  await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  await see(dialog().getByText(/Importing \d+ of \d+ columns/))
}

/** As `chooseFile`, for an import into an existing table. */
async function choose(name: string, text: string, table: string): Promise<void> {
  await chooseFile(name, text)
  await dialog().getByLabel('Existing table').check()
  await dialog().getByLabel('Table', { exact: true }).selectOption({ label: table })
}

const ITEMS = 'name,price,doubled\nNut,1.5,3\nMuch too long a name,2,4\nBolt,-1,-2\nScrew,4,8\n'

describe('the import into a table of a connected database', () => {
  test('says before anything is written that a table is read-only', async () => {
    await choose('items.csv', ITEMS, 'cheap')
    await see(
      dialog().getByText('Files can’t be imported into cheap: This is a database view and is read-only'),
    )
    expect(await importButton().isDisabled()).toBe(true)
    await shot('read-only')
  })

  test('marks cells that do not fit their column, and names columns that the database fills', async () => {
    await choose('items.csv', ITEMS, 'item')
    await see(
      dialog().getByText('The database fills these columns itself, so they are not imported: doubled'),
    )
    await see(dialog().getByText('1 invalid cell').first())
    await shot('item')
    await page.setViewportSize({ width: 420, height: 800 })
    await shot('item-narrow')
    await page.setViewportSize({ width: 1100, height: 800 })
  })

  test('adds the rows, and reports those that the database refuses with its message', async () => {
    await foreign.ask('delete from item')
    await choose('items.csv', ITEMS, 'item')
    await see(dialog().getByText('1 invalid cell').first())
    await importButton().click()
    await see(dialog().getByText(/^2 rows added to item/))
    await see(dialog().getByText(/item_price_check/))
    await shot('finished')
    expect(await foreign.ask('select name from item order by id')).toEqual([
      { name: 'Nut' },
      { name: 'Screw' },
    ])
    await dialog().getByRole('button', { name: 'Undo' }).click()
    await see(dialog().getByText('The imported rows were removed'))
    expect(await foreign.ask('select name from item')).toEqual([])
  })

  test('previews updates by the key of the table, and writes them', async () => {
    await foreign.ask('delete from person')
    await foreign.ask(`insert into person values ('a', 'Ann'), ('b', 'Ben')`)
    await choose('people.csv', 'code,name\na,Anna\nb,Ben\nc,Cem\n', 'person')
    await see(dialog().getByText('Importing 2 of 2 columns'))
    await dialog().getByLabel('Rows').selectOption({ label: 'Update existing records and add the others' })
    await importButton().click()
    await see(dialog().getByText('Anna'))
    expect(await axeViolations(page)).toEqual([])
    await shot('preview')
    await dialog().getByRole('button', { name: 'Import', exact: true }).click()
    await see(dialog().getByRole('heading', { name: 'Import finished' }))
    await shot('updated')
    expect(await foreign.ask('select name from person order by code')).toEqual([
      { name: 'Anna' },
      { name: 'Ben' },
      { name: 'Cem' },
    ])
  })

  test('creates a new table in the database that is chosen', async () => {
    // So that the test can be repeated.
    const year = ++years
    await chooseFile(`Colours of ${year}.csv`, 'Name,Year\nTeal,2024\nOchre,2025\n')
    await dialog().getByLabel('Database of the new table').selectOption({ index: 1 })
    await shot('new-table')
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await shot('new-table-rtl')
    await page.evaluate(() => {
      document.documentElement.dir = 'ltr'
    })
    await importButton().click()
    await see(dialog().getByText(`2 rows added to Colours of ${year}`))
    expect(await foreign.ask(`select "Name" as name from "Colours_of_${year}" order by id`)).toEqual([
      { name: 'Teal' },
      { name: 'Ochre' },
    ])
    await dialog().getByRole('button', { name: 'Open table' }).click()
    await see(page.getByText('Ochre').first())
  })
})
