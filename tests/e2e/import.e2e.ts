import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import * as XLSX from 'xlsx'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { Base } from '../../src/core/model.ts'
import { createTestApp, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { createBase } from '../support/factories.ts'
import { holdTurn } from '../support/hold-turn.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { eventually } from './grid-page.ts'

const DATA = join(import.meta.dir, '../../node_modules/vega-datasets/data')

let app: TestApp
let browser: Browser
let owner: TestUser
let page: Page
let base: Base
const problems: string[] = []

beforeAll(async () => {
  ;[app, browser] = await Promise.all([createTestApp(), shareBrowser()])
  owner = await app.signUp()
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(app.url)
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
})

afterAll(async () => {
  await closeContexts(browser)
  await app?.stop()
})

beforeEach(async () => {
  base = await createBase(app, owner)
  await page.goto(`${app.url}/#/nc/${base.id}`)
  // A test that failed may have left its dialog.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: base.title }).waitFor()
})

type ChosenFile = string | { name: string; mimeType: string; buffer: Buffer }

const csv = (name: string, text: string | Buffer): ChosenFile => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
})

/** Opens the import from the base's home, chooses a file and waits until it has been looked into. */
async function choose(file: ChosenFile): Promise<void> {
  await page.getByRole('button', { name: /^Import data/ }).click()
  const chooser = page.waitForEvent('filechooser')
  await dialog().getByRole('button', { name: 'Choose files' }).click()
  await (await chooser).setFiles(file)
  await dialog()
    .getByText(/Importing \d+ of \d+ columns?/)
    .waitFor()
}

const dialog = () => page.getByRole('dialog')
const start = () =>
  dialog()
    .getByRole('button', { name: /^Import/ })
    .last()
    .click()
const tables = () => app.trpc(owner.token).schema.tables.query({ baseId: base.id })

/** The values of a table's own fields. */
async function valuesOf(tableId: string) {
  const trpc = app.trpc(owner.token)
  const { fields } = await trpc.schema.table.query({ tableId })
  const fieldIds = fields
    .filter(({ isSystem, isPrimaryKey }) => !isSystem && !isPrimaryKey)
    .map(({ id }) => id)
  return (await trpc.records.list.query({ query: { tableId, fieldIds, limit: 100, offset: 0 } })).rows
}

/** A table with two records, to which columns of a file can link. */
async function createCities(): Promise<void> {
  await app.trpc(owner.token).schema.createTable.mutate({
    baseId: base.id,
    title: 'Cities',
    fields: [{ title: 'Name', type: 'SingleLineText' }],
  })
  const [cities] = await tables()
  const { fields: own } = await app.trpc(owner.token).schema.table.query({ tableId: cities!.id })
  const name = own.find(({ title }) => title === 'Name')?.id ?? ''
  await app.trpc(owner.token).records.write.mutate({
    change: {
      baseId: base.id,
      operations: [
        {
          kind: 'insert',
          tableId: cities!.id,
          rows: ['Rome', 'Oslo'].map((city) => ({ values: { [name]: city } })),
        },
      ],
    },
  })
}

describe('importing a file', () => {
  test('keeps the settings when one presses beside the dialog', async () => {
    await choose(csv('ages.csv', 'Name;Age\nAnn;31\n'))
    await page.getByLabel('Type of Age').selectOption('SingleLineText')
    await page.mouse.click(5, 5)
    await Bun.sleep(200)
    expect(await page.getByLabel('Type of Age').inputValue()).toBe('SingleLineText')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('makes a table of it, with the types that were found', async () => {
    await choose(join(DATA, 'airports.csv'))
    await page.getByLabel('Type of latitude').waitFor()
    expect(await page.getByLabel('Type of latitude').inputValue()).toBe('Decimal')
    await start()
    await dialog()
      .getByText(/3,376 rows added to airports/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Open table' }).click()
    await page.getByText('3,376 records').waitFor()
    await page.getByText('Thigpen').first().waitFor()
    // Taken back, the table is gone: the way to have it again is the same key where one then stands.
    await page.keyboard.press('ControlOrMeta+z')
    const question = page.getByRole('dialog', { name: 'Undo import of 3,376 records into airports?' })
    await question.getByText('The table moves to the trash with its records and views.').waitFor()
    // Without an answer nothing is undone.
    await page.keyboard.press('Escape')
    expect((await tables()).map(({ title }) => title)).toEqual(['airports'])
    await page.keyboard.press('ControlOrMeta+z')
    await question.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { level: 1, name: base.title }).waitFor()
    expect(await tables()).toEqual([])
    await page.keyboard.press('ControlOrMeta+Shift+z')
    await page.getByRole('dialog').getByRole('button', { name: 'Redo' }).click()
    await page.getByRole('row', { name: /airports/ }).waitFor()
    expect((await tables()).map(({ title }) => title)).toEqual(['airports'])
  })

  test('shows what will not fit, and gives a report of it afterwards', async () => {
    await choose(csv('ages.csv', 'Name;Age\nAnn;31\nBen;old\n'))
    await page.getByLabel('Type of Age').selectOption('Number')
    await dialog().getByText('1 invalid cell').waitFor()
    await start()
    await dialog().getByText('1 invalid cell left empty').waitFor()
    const download = page.waitForEvent('download')
    await dialog().getByRole('button', { name: 'Download skipped rows' }).click()
    const saved = await download
    expect(saved.suggestedFilename()).toBe('ages - not imported.csv')
    expect(await Bun.file(await saved.path()).text()).toContain('3,Age,old')
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('finds out the encoding, and takes names and ticks as they are set', async () => {
    await choose(csv('städte.csv', Buffer.from('Stadt,Land,x\nK\xf6ln,DE,1\nZ\xfcrich,CH,2\n', 'latin1')))
    await dialog().getByText('Köln').waitFor()
    await dialog().getByLabel('Import x', { exact: true }).uncheck()
    await dialog().getByLabel('Field name', { exact: true }).first().fill('City')
    await dialog().getByLabel('Table name').fill('Cities')
    await start()
    await dialog()
      .getByText(/2 rows added to Cities/)
      .waitFor()
    const [table] = await tables()
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: table!.id })
    expect(
      fields.filter((field) => !field.isSystem && !field.isPrimaryKey).map(({ title }) => title),
    ).toEqual(['City', 'Land'])
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('asks which reading of an unclear encoding is right, and imports nothing before', async () => {
    const polish = Buffer.from('name,city\r\nPawel,\xa3\xf3d\x9f\r\n', 'latin1')
    await choose(csv('cities.csv', polish))
    const question = dialog().getByRole('alert').filter({ hasText: 'Which of these reads right?' })
    await question.waitFor()
    const button = dialog()
      .getByRole('button', { name: /^Import/ })
      .last()
    expect(await button.isDisabled()).toBe(true)
    await question.getByRole('button', { name: 'Pawel,Łódź Central European (Windows-1250)' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await dialog().getByLabel('Encoding').inputValue()).toBe('windows-1250')
    await dialog().getByText('Łódź').first().waitFor()
    await button.click()
    await dialog()
      .getByText(/1 row added to cities/)
      .waitFor()
  })

  test('reads backslashes and texts in formulas as the boxes say', async () => {
    const header = 'Code;Name\n'
    await choose(csv('codes.csv', `${header}="0012";"Ann \\"A\\""\n="0013";\\N\n`))
    const backslashes = page.getByLabel('Backslashes escape quotes')
    const formulas = page.getByLabel('Read =“0012” as text')
    expect([await backslashes.isChecked(), await formulas.isChecked()]).toEqual([true, true])
    await dialog().getByText('Ann "A"', { exact: true }).waitFor()
    await formulas.uncheck()
    await dialog().getByText('="0012"', { exact: true }).waitFor()
    await formulas.check()
    await dialog().getByText('0012', { exact: true }).waitFor()
    await backslashes.uncheck()
    await dialog().getByText('\\N', { exact: true }).waitFor()
    await backslashes.check()
    await dialog().getByText('Ann "A"', { exact: true }).waitFor()
    await start()
    await dialog()
      .getByText(/2 rows added to codes/)
      .waitFor()
    const [table] = await tables()
    expect(await valuesOf(table?.id ?? '')).toEqual([
      ['0012', 'Ann "A"'],
      ['0013', null],
    ])
  })

  test('asks which currency a word means, in a narrow window and from right to left as well', async () => {
    await choose(csv('prices.csv', 'Item;Price\nTea;1 234,50 kr\nJam;99,00 kr\n'))
    const choice = page.getByLabel('Currency of Price')
    expect(await choice.locator('option').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('SEK'), expect.stringContaining('NOK')]),
    )
    try {
      await page.setViewportSize({ width: 390, height: 760 })
      for (const dir of ['ltr', 'rtl']) {
        await page.evaluate((value) => (document.documentElement.dir = value), dir)
        await choice.scrollIntoViewIfNeeded()
        const box = await choice.boundingBox()
        expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect(overflow).toBeLessThanOrEqual(0)
      }
    } finally {
      await page.evaluate(() => (document.documentElement.dir = 'ltr'))
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    await choice.selectOption('NOK')
    await start()
    await dialog()
      .getByText(/2 rows added to prices/)
      .waitFor()
    const [table] = await tables()
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: table?.id ?? '' })
    expect(fields.find(({ title }) => title === 'Price')).toMatchObject({
      type: 'Currency',
      options: { code: 'NOK', locale: 'nb-NO' },
    })
    expect(await valuesOf(table?.id ?? '')).toEqual([
      ['Tea', 1234.5],
      ['Jam', 99],
    ])
  })

  test('says where another table seems to begin', async () => {
    await choose(csv('two.csv', 'Name,Age\nAnn,3\n\nProduct,Price,Stock\nPen,1.5,10\n'))
    await dialog().getByText('Row 4 looks like the titles of another table: Product, Price, Stock.').waitFor()
  })

  test('adds to a table by the names of its fields, and takes that back', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: 'People',
      fields: [
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Age', type: 'Number' },
      ],
    })
    await choose(csv('more.csv', 'age,Note,name\n31,x,Ann\n'))
    await dialog().getByLabel('Existing table').check()
    expect(await dialog().getByLabel('Field for Note').inputValue()).toBe('')
    expect(await dialog().getByLabel('Field for age').inputValue()).not.toBe('')
    await start()
    await dialog()
      .getByText(/1 row added to People/)
      .waitFor()
    const count = () => app.trpc(owner.token).records.count.query({ selection: { tableId: table.id } })
    expect(await count()).toEqual({ count: 1 })
    await dialog().getByRole('button', { name: 'Undo' }).click()
    await dialog().getByText('The imported rows were removed').waitFor()
    expect(await count()).toEqual({ count: 0 })
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('shows what an update would change before it writes, and is taken back as one step', async () => {
    const trpc = app.trpc(owner.token)
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: 'People',
      fields: [
        { title: 'Code', type: 'SingleLineText' },
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Age', type: 'Number' },
      ],
    })
    const [code, name, age] = ['Code', 'Name', 'Age'].map(
      (title) => fields.find((field) => field.title === title)!.id,
    )
    const rows = [
      ['a1', 'Ann', 30],
      ['b2', 'Ben', 40],
    ].map((row) => ({ values: { [code!]: row[0]!, [name!]: row[1]!, [age!]: row[2]! } }))
    await trpc.records.write.mutate({
      change: { baseId: base.id, operations: [{ kind: 'insert', tableId: table.id, rows }] },
    })
    const names = async () => {
      const page = await trpc.records.list.query({
        query: { tableId: table.id, fieldIds: [name!], limit: 10, offset: 0 },
      })
      return page.rows.map(([value]) => value)
    }
    await page.reload()
    await choose(csv('people.csv', 'code,name,age\na1,Ada,30\nb2,Ben,40\nc3,Cem,50\n,Nobody,1\n'))
    await dialog().getByLabel('Existing table').check()
    await dialog().getByLabel('Rows').selectOption('Update existing records and add the others')
    // The display field, until another is chosen.
    expect(await dialog().getByLabel('Code', { exact: true }).isChecked()).toBe(true)
    await dialog().getByRole('button', { name: 'Preview changes' }).click()
    const preview = page.getByRole('dialog', { name: 'Preview of changes' })
    await preview.getByText('Nothing has been written yet').waitFor()
    expect(await preview.locator('dl').textContent()).toBe('New1Changed1Unchanged1Skipped: no key1')
    await preview.getByText('Ada', { exact: true }).waitFor()
    expect(await names()).toEqual(['Ann', 'Ben'])
    await preview.getByRole('button', { name: 'Back' }).click()
    await dialog().getByRole('button', { name: 'Preview changes' }).click()
    await preview.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog().getByText('People: 1 added, 1 changed, 1 unchanged').waitFor()
    expect(await names()).toEqual(['Ada', 'Ben', 'Cem'])
    await dialog().getByRole('button', { name: 'Undo' }).click()
    await dialog().getByText('The import was undone').waitFor()
    expect(await names()).toEqual(['Ann', 'Ben'])
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  /** Orders with a link to customers, of whom there are Ann and Jane Doe. */
  async function createOrders(): Promise<void> {
    const trpc = app.trpc(owner.token)
    const make = (title: string) =>
      trpc.schema.createTable.mutate({
        baseId: base.id,
        title,
        fields: [{ title: 'Name', type: 'SingleLineText' }],
      })
    const [orders, customers] = [await make('Orders'), await make('Customers')]
    const name = customers.fields.find(({ title }) => title === 'Name')!
    const rows = ['Ann', 'Doe, Jane'].map((value) => ({ values: { [name.id]: value } }))
    const operations = [{ kind: 'insert' as const, tableId: customers.table.id, rows }]
    await trpc.records.write.mutate({ change: { baseId: base.id, operations } })
    const options = { kind: 'mm' as const, relatedTableId: customers.table.id }
    await trpc.schema.createField.mutate({
      tableId: orders.table.id,
      field: { title: 'Customer', type: 'Links', options },
    })
    await page.reload()
  }

  test('fits into a narrow window with all its choices, which are legible and within reach', async () => {
    await createCities()
    await choose(csv('towns.csv', 'Name,Population\nRome,3\n'))
    await dialog().getByRole('button', { name: 'Add another file' }).click()
    await dialog().getByRole('button', { name: 'Paste' }).click()
    await dialog()
      .getByLabel(/^Paste rows/)
      .fill('a\tb\n1\t2\n')
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog().getByRole('button', { name: 'towns.csv', exact: true }).click()
    await dialog().getByLabel('Existing table').check()
    await dialog().getByRole('combobox', { name: /^Rows/ }).selectOption('updateAndAdd')
    const field = dialog().getByLabel('Field for Population')
    await field.waitFor()
    expect((await field.boundingBox())?.height).toBeLessThan(45)
    try {
      await page.setViewportSize({ width: 390, height: 760 })
      // The columns scroll sideways, which have the focus for that, and the tabs; the dialog does not.
      const sideways = await dialog().evaluate((box) =>
        [...box.querySelectorAll('div:not([tabindex])')]
          .filter(
            (each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === 'auto',
          )
          .map((each) => each.className),
      )
      expect(sideways).toEqual([])
      expect(await axeViolations(page, await dialog().elementHandle())).toEqual([])
    } finally {
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('says that its table was deleted meanwhile, and takes another one', async () => {
    await createCities()
    const [cities] = await tables()
    await app.trpc(owner.token).schema.createTable.mutate({ baseId: base.id, title: 'Towns' })
    await choose(csv('late.csv', 'Name\nBergen\n'))
    await dialog().getByLabel('Existing table').check()
    const table = dialog().getByLabel('Table', { exact: true })
    await table.selectOption({ label: 'Cities' })
    await dialog().getByLabel('Field for Name').waitFor()
    await app.trpc(owner.token).schema.deleteTable.mutate({ tableId: cities?.id ?? '' })
    await dialog().getByText('The table was deleted. Choose another one.').waitFor()
    expect(await table.locator('option:checked').textContent()).toBe('Deleted table')
    expect(
      await dialog()
        .getByRole('button', { name: /^Import \d/ })
        .isDisabled(),
    ).toBe(true)
    await table.selectOption({ label: 'Towns' })
    await dialog().getByText('The table was deleted. Choose another one.').waitFor({ state: 'detached' })
    for (const { id } of await tables())
      await app.trpc(owner.token).schema.deleteTable.mutate({ tableId: id })
    await dialog().getByText('The table was deleted. Choose another one.').waitFor()
    await dialog().getByLabel('New table').check()
    await dialog().getByText('The table was deleted. Choose another one.').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('links the rows to records that a column names, and shows which are not there', async () => {
    await createOrders()
    await choose(csv('orders.csv', 'name,customer\nFirst,"Ann, ""Doe, Jane"""\nSecond,"Ann, Zoe"\n'))
    await dialog().getByLabel('Existing table').check()
    await dialog().getByText('Links match existing records by name').waitFor()
    expect(await dialog().getByLabel('Field for customer').inputValue()).not.toBe('')
    await dialog().getByText('1 invalid cell').waitFor()
    await start()
    await dialog()
      .getByText(/2 rows added to Orders/)
      .waitFor()
    await dialog().getByText('1 invalid cell left empty').waitFor()
    await dialog().getByRole('button', { name: 'Open table' }).click()
    await page.getByText('2 records').waitFor()
    await page.getByText('Doe, Jane', { exact: true }).waitFor()
    expect(await page.getByText('Ann', { exact: true }).count()).toBe(2)
  })

  test('creates the records that a column names, after a preview that counts them', async () => {
    await createOrders()
    await choose(csv('orders.csv', 'name,customer\nFirst,"Ann, Max"\nSecond,"Max, Zoe"\n'))
    await dialog().getByLabel('Existing table').check()
    await dialog().getByText('2 invalid cells').waitFor()
    await dialog().getByLabel('Names in Customer without a record').selectOption('Create missing records')
    await dialog().getByText('2 names have no record yet').waitFor()
    await dialog().getByRole('button', { name: 'Preview changes' }).click()
    const created = dialog().locator('dl div', { hasText: 'New in Customers' })
    await created.getByText('2', { exact: true }).waitFor()
    await start()
    await dialog().getByText('2 records were created in Customers').waitFor()
    await dialog().getByRole('button', { name: 'Undo' }).click()
    const customers = (await tables()).find(({ title }) => title === 'Customers')
    const count = () =>
      app.trpc(owner.token).records.list.query({
        query: { tableId: customers?.id ?? '', fieldIds: [], limit: 100, offset: 0 },
      })
    expect((await eventually(count, ({ ids }) => ids.length <= 2)).ids).toHaveLength(2)
  })

  test('goes on with the upload when the connection is back', async () => {
    const parts = /\/api\/internal\/uploads\/[a-z0-9]{20}/
    await choose(csv('lost.csv', 'Name\nAnn\nBen\n'))
    await page.route(parts, (route) => route.abort('connectionreset'))
    await start()
    await dialog()
      .getByText(/Connection lost at 0%/)
      .waitFor()
    await page.unroute(parts)
    await dialog()
      .getByText(/2 rows added to lost/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('goes on with the upload after its token was refused', async () => {
    const parts = /\/api\/internal\/uploads\/[a-z0-9]{20}\?offset/
    await choose(csv('refused.csv', 'Name\nAnn\nBen\n'))
    await page.route(parts, (route) => route.fulfill({ status: 401, json: { msg: 'Invalid token' } }), {
      times: 1,
    })
    await start()
    await dialog()
      .getByText(/2 rows added to refused/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('is followed to its end when the connection was lost meanwhile', async () => {
    const asked = /\/trpc\/jobs\.get/
    await choose(csv('away.csv', 'Name\nAnn\nBen\n'))
    await page.route(asked, (route) => route.abort('connectionrefused'))
    const lost = page.waitForEvent('requestfailed', (request) => asked.test(request.url()))
    await start()
    await lost
    await page.unroute(asked)
    await dialog()
      .getByText(/2 rows added to away/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('goes back to its settings where nothing was imported, and from another file', async () => {
    await app.trpc(owner.token).schema.createTable.mutate({ baseId: base.id, title: 'Taken' })
    await choose(csv('back.csv', 'Name\nAnn\n'))
    const name = dialog().getByLabel('Table name')
    await name.fill('Taken')
    await start()
    await dialog()
      .getByText(/^Nothing was imported: /)
      .waitFor()
    await dialog().getByRole('button', { name: 'Back' }).click()
    expect(await name.inputValue()).toBe('Taken')
    await name.fill('Free')
    await dialog().getByRole('button', { name: 'Add another file' }).click()
    await dialog().getByRole('button', { name: 'Back' }).click()
    expect(await name.inputValue()).toBe('Free')
    await start()
    await dialog()
      .getByText(/1 row added to Free/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('goes on when the dialog is closed, and can be cancelled there', async () => {
    // From the disk: on its way through the driver a file of this size takes seconds.
    const folder = await mkdtemp(join(tmpdir(), 'sheaf-long-'))
    const path = join(folder, 'long.csv')
    await Bun.write(path, `Name,Age\n${'Somebody with quite a long name,42\n'.repeat(1_200_000)}`)
    await choose(path)
    await start()
    await dialog().getByRole('button', { name: 'Continue in the background' }).click()
    const card = page.getByRole('region', { name: 'long.csv' })
    await card.getByText(/\d rows · /).waitFor()
    await rm(folder, { recursive: true })
    await card.getByRole('button', { name: 'Cancel import' }).click()
    await card.getByText('Import cancelled. Nothing was imported.').waitFor()
    expect(await tables()).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await card.waitFor({ state: 'detached' })
  })

  test('can be cancelled while the server starts it', async () => {
    const starting = /\/trpc\/imports\.startAll/
    await choose(csv('late.csv', 'Name\nAnn\n'))
    const held = Promise.withResolvers<void>()
    await page.route(starting, async (route) => {
      const answer = await route.fetch()
      await held.promise
      await route.fulfill({ response: answer })
    })
    const release = await holdTurn(app.kernel, base.id)
    const asked = page.waitForRequest(starting)
    await start()
    await asked
    await dialog().getByRole('button', { name: 'Continue in the background' }).click()
    const card = page.getByRole('region', { name: 'late.csv' })
    await card.getByRole('button', { name: 'Cancel import' }).click()
    const cancelled = page.waitForResponse(/\/trpc\/jobs\.cancel/)
    held.resolve()
    await cancelled
    await release()
    await card.getByText('Import cancelled. Nothing was imported.').waitFor()
    await page.unroute(starting)
    expect(await tables()).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
  })

  test('goes on with the upload of a file when its format is changed meanwhile', async () => {
    const parts = /\/api\/internal\/uploads\/[a-z0-9]{20}\?offset/
    await choose(csv('slow.csv', `Name\tAge\n${'Ann\t4\n'.repeat(400_000)}`))
    const held = Promise.withResolvers<void>()
    await page.route(parts, async (route) => {
      await held.promise
      await route.continue()
    })
    const sent = page.waitForRequest(parts)
    await dialog().getByLabel('Check all rows before choosing types').check()
    await sent
    await dialog().getByLabel('Decimal separator').selectOption(',')
    held.resolve()
    await dialog().getByText('Importing 2 of 2 columns').waitFor()
    await page.unroute(parts)
    await page.keyboard.press('Escape')
  })

  test('takes several files, pasted text among them', async () => {
    await choose(csv('one.csv', 'a\n1\n'))
    await dialog().getByRole('button', { name: 'Add another file' }).click()
    await dialog().getByRole('button', { name: 'Paste' }).click()
    await dialog()
      .getByLabel(/Paste rows/)
      .fill('a\tb\n1\t2\n')
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog().getByText('Importing 2 of 2 columns').waitFor()
    await start()
    await dialog().getByText('Import finished').waitFor()
    expect((await tables()).map(({ title }) => title).sort()).toEqual(['Pasted text', 'one'])
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('takes the sheets of a workbook that are ticked', async () => {
    const book = XLSX.utils.book_new()
    const append = (name: string, rows: unknown[][]) =>
      XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), name)
    append('Cities', [
      ['Report of 2024'],
      ['City', 'People', 'Since'],
      ['Rome', 2_873_000, 753],
      ['Bergen', 291_189, 1070],
    ])
    append('Notes', [['Note'], ['Look up the numbers']])
    append('Old', [['a'], ['b']])
    book.Workbook = { Sheets: [{}, {}, { Hidden: 1 }] }
    const buffer = XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer
    await choose({ name: 'atlas.xlsx', mimeType: 'application/octet-stream', buffer })
    expect(await dialog().getByLabel('Import table Old').isChecked()).toBe(false)
    expect(await page.getByLabel('Type of People').inputValue()).toBe('Number')
    expect(await dialog().getByLabel('Table name').inputValue()).toBe('Cities')
    // Without titles, the row of titles is a record.
    await dialog().getByLabel('A row contains field names').uncheck()
    await page.getByLabel('Type of Field 2').waitFor()
    await dialog().getByLabel('A row contains field names').check()
    await page.getByLabel('Type of People').waitFor()
    await dialog().getByRole('button', { name: 'Notes', exact: true }).click()
    await dialog().getByText('Look up the numbers').waitFor()
    await dialog().getByLabel('Import table Notes').uncheck()
    await start()
    await dialog()
      .getByText(/2 rows added to Cities/)
      .waitFor()
    expect((await tables()).map(({ title }) => title)).toEqual(['Cities'])
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('makes a table of each list of a JSON file', async () => {
    const json = { people: [{ name: 'Ann', home: { city: 'Rome' } }], pets: [{ name: 'Rex' }], made: 'today' }
    await choose(csv('all.json', JSON.stringify(json)))
    await page.getByLabel('Type of home.city').waitFor()
    await dialog().getByLabel('Nested objects become fields').uncheck()
    await page.getByLabel('Type of home.city').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Type of home').inputValue()).toBe('JSON')
    await start()
    await dialog()
      .getByText(/1 row added to pets/)
      .waitFor()
    await dialog().getByText('Import finished').waitFor()
    expect((await tables()).map(({ title }) => title).sort()).toEqual(['people', 'pets'])
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('warns of the memory that a large workbook takes which is read as a whole', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sheaf-large-'))
    const path = join(folder, 'large.xls')
    await Bun.write(path, Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(11_000_000)]))
    await page.getByRole('button', { name: /^Import data/ }).click()
    const chooser = page.waitForEvent('filechooser')
    await dialog().getByRole('button', { name: 'Choose files' }).click()
    await (await chooser).setFiles(path)
    await dialog()
      .getByText(/may take up to 2\d\d MB for this file/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Choose another file' }).waitFor()
    await rm(folder, { recursive: true })
  })

  test('says what a file of another kind is, and asks for another one instead of trying again', async () => {
    await page.getByRole('button', { name: /^Import data/ }).click()
    const pick = async (button: string, file: ChosenFile) => {
      const chooser = page.waitForEvent('filechooser')
      await dialog().getByRole('button', { name: button }).click()
      await (await chooser).setFiles(file)
    }
    await pick('Choose files', csv('people.csv', '<?xml version="1.0"?><people/>'))
    await dialog().getByText('This is an XML file.').waitFor()
    expect(await dialog().getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(await dialog().getByLabel('Separator').count()).toBe(0)
    await dialog().getByRole('button', { name: 'Choose another file' }).click()
    await dialog().getByRole('button', { name: 'Paste' }).click()
    await dialog()
      .getByLabel(/^Paste rows/)
      .fill('{"Name": "Ann",}')
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog()
      .getByText(/Line 1, column 16: the JSON is not valid/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Choose another file' }).click()
    // To be mended where it was typed.
    expect(
      await dialog()
        .getByLabel(/^Paste rows/)
        .inputValue(),
    ).toBe('{"Name": "Ann",}')
    await dialog().getByRole('button', { name: 'File', exact: true }).click()
    await pick('Choose files', csv('book.csv', 'PK\x03\x04\x14\0xl/workbook.xml'))
    await dialog()
      .getByText(/The file is damaged/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Choose another file' }).click()
    await pick('Choose files', csv('people.csv', 'Id,Name\na1b2c3,Ann\nd4e5f6,Ben\n'))
    await dialog().getByText('Importing 2 of 2 columns').waitFor()
    expect(await page.getByLabel('Display field').inputValue()).toBe('1')
    await start()
    await dialog()
      .getByText(/2 rows added/)
      .waitFor()
    const [table] = await tables()
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: table!.id })
    expect(fields.find(({ isDisplay }) => isDisplay)?.title).toBe('Name')
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('offers no types that are refused afterwards', async () => {
    await choose(csv('ages.csv', 'Name,Age\nAnn,31\n'))
    const types = await page.getByLabel('Type of Age').locator('option').allTextContents()
    for (const type of ['Foreign key', 'ID', 'Specific database type', 'Collaborator'])
      expect(types).not.toContain(type)
    await page.keyboard.press('Escape')
  })

  test('says what is wrong with an address, and keeps it', async () => {
    await choose(csv('one.csv', 'a\n1\n'))
    await dialog().getByRole('button', { name: 'Add another file' }).click()
    await dialog().getByRole('button', { name: 'Address' }).click()
    await dialog().getByLabel('URL of a CSV, Excel or JSON file').fill('http://127.0.0.1/a.csv')
    await page.keyboard.press('Enter')
    await dialog()
      .getByText(/private network/)
      .waitFor()
    expect(await dialog().getByLabel('URL of a CSV, Excel or JSON file').inputValue()).toBe(
      'http://127.0.0.1/a.csv',
    )
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('proposes links between the sheets of a workbook and to a table, and reads dates as chosen', async () => {
    await createCities()
    const book = XLSX.utils.book_new()
    const sheets = {
      Orders: [
        ['No', 'Customer', 'Due'],
        ['O-1', 'Ann Smith', '01/02/2024'],
        ['O-2', 'Doe, Jane', '03/04/2024'],
        ['O-3', 'Zoe', '05/06/2024'],
      ],
      Customers: [
        ['Name', 'City'],
        ['Ann Smith', 'Rome'],
        ['Doe, Jane', 'Oslo'],
      ],
    }
    for (const [title, rows] of Object.entries(sheets))
      XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), title)
    await choose({
      name: 'shop.xlsx',
      mimeType: 'application/vnd.ms-excel',
      buffer: Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' })),
    })
    const type = (column: string) =>
      page.getByLabel(`Type of ${column}`).locator('option:checked').textContent()
    await dialog().getByText('2 of 3 names found').waitFor()
    expect(await type('Customer')).toBe('Link to Customers')
    expect(await page.getByLabel('Display field').locator('option:checked').textContent()).toBe('No')
    await dialog().getByText('01 Feb 2024').waitFor()
    await page.getByLabel('Order of day and month in Due').selectOption('Month first')
    await dialog().getByText('02 Jan 2024').waitFor()
    await dialog().getByRole('button', { name: 'Customers', exact: true }).click()
    await dialog().getByText('2 of 2 names found').waitFor()
    expect(await type('City')).toBe('Link to Cities')
    expect(await dialog().getByLabel('Table name').inputValue()).toBe('Customers')
    await page.getByLabel('Type of City').selectOption('Single line text')
    expect(await type('City')).toBe('Single line text')
    await start()
    await dialog()
      .getByText('Customer in Orders is linked to Customers: 3 records. 1 missing record was created.')
      .waitFor()
    await dialog().getByRole('button', { name: 'Open table' }).first().click()
    await page.getByText('3 records').waitFor()
    await page.getByText('Doe, Jane').first().waitFor()
    await page.getByText('01/02/2024').first().waitFor()
  })

  test('proposes a link for a file of many columns', async () => {
    await createCities()
    const columns = Array.from({ length: 12 }, (_, at) => `Text ${at}`)
    const rows = Array.from({ length: 20 }, (_, row) => [
      row % 2 === 0 ? 'Rome' : 'Oslo',
      ...columns.map((column) => `${column}, value ${row}`),
    ])
    const lines = [['City', ...columns], ...rows].map((row) => row.map((text) => `"${text}"`).join())
    await choose(csv('places.csv', lines.join('\n')))
    await dialog().getByText('2 of 2 names found').waitFor()
    const type = page.getByLabel('Type of City').locator('option:checked')
    expect(await type.textContent()).toBe('Link to Cities')
    await page.keyboard.press('Escape')
  })

  test('asks whether the years of a column are Buddhist, and shows the days that it reads', async () => {
    const days = ['31/12/2567', '29/02/2567']
    await choose(csv('days.csv', `Name,Due\n${days.map((day, at) => `n${at},${day}`).join('\n')}\n`))
    await dialog().getByText('31 Dec 2024').waitFor()
    const years = page.getByLabel('Years of “Due”')
    await years.selectOption('Years as they are')
    await dialog().getByText('31 Dec 2567').waitFor()
    await dialog().getByText('1 invalid cell').waitFor()
    await years.selectOption('Buddhist years (2567 is 2024)')
    await start()
    await dialog().getByRole('button', { name: 'Open table' }).click()
    await page.getByText('29/02/2024').first().waitFor()
    const [table] = await tables()
    expect(Object.values(await valuesOf(table?.id ?? '')).join()).toContain('2024-12-31')
  })

  test('asks whether short days have the year first, and shows the days that it reads', async () => {
    const days = ['24/11/13', '24/12/31']
    await choose(csv('short.csv', `Name,Due\n${days.map((day, at) => `n${at},${day}`).join('\n')}\n`))
    await dialog().getByText('24 Nov 2013').waitFor()
    const order = page.getByLabel('Order of day and month in Due')
    expect(await order.locator('option').allTextContents()).toEqual(['Day first', 'Year first'])
    await order.selectOption('Year first')
    await dialog().getByText('13 Nov 2024').waitFor()
    await order.selectOption('Day first')
    await dialog().getByText('24 Nov 2013').waitFor()
    await order.selectOption('Year first')
    await start()
    await dialog().getByRole('button', { name: 'Open table' }).click()
    await page.getByText('2024/12/31').first().waitFor()
    const [table] = await tables()
    const values = Object.values(await valuesOf(table?.id ?? '')).join()
    expect(values).toContain('2024-11-13')
    expect(values).toContain('2024-12-31')
  })

  test('makes a linked table of the lists in JSON records once it is ticked', async () => {
    const file = [
      { order: 'A-1', lines: [{ item: 'Pen' }, { item: 'Ink' }] },
      { order: 'A-2', lines: [{ item: 'Cup' }] },
    ]
    await choose({
      name: 'orders.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(file)),
    })
    expect(await dialog().getByLabel('Import lines', { exact: true }).isChecked()).toBe(true)
    await dialog().getByLabel('Import table lines').check()
    expect(await dialog().getByLabel('Import lines', { exact: true }).isChecked()).toBe(false)
    await dialog().getByRole('button', { name: 'lines', exact: true }).click()
    await dialog().getByRole('group', { name: 'Parent' }).getByText('Link to orders').waitFor()
    await dialog().getByText('These records come from lists inside other records.').waitFor()
    let left = 2
    const holding = Promise.withResolvers<() => Promise<unknown>>()
    const stop = app.kernel.events.on('job.changed', ({ kind, status, baseId }) => {
      if (kind !== 'import' || status !== 'completed' || baseId !== base.id || --left > 0) return
      holdTurn(app.kernel, base.id).then(holding.resolve, holding.reject)
    })
    await start()
    const release = await holding.promise
    stop()
    // All rows are looked at, and the table is changed once it is its turn.
    await dialog().getByText('Linking lines to orders: 3 of 3 rows').waitFor()
    await release()
    await dialog().getByText('order in lines is linked to orders: 3 records.').waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    expect((await tables()).map(({ title }) => title).toSorted()).toEqual(['lines', 'orders'])
  })

  test('of several tables can be cancelled at once, in a narrow window and from right to left as well', async () => {
    const name = `orders ${'of a shop with a very long name '.repeat(4)}`.trim()
    const file = [{ order: 'A-1', lines: [{ item: 'Pen' }], notes: [{ note: 'soon' }] }]
    await choose(csv(`${name}.json`, JSON.stringify(file)))
    await dialog().getByLabel('Import table lines').check()
    await dialog().getByLabel('Import table notes').check()
    const release = await holdTurn(app.kernel, base.id)
    await start()
    await dialog().getByText('4 tasks of this import are running').waitFor()
    await dialog().getByRole('button', { name: 'Continue in the background' }).click()
    const cards = page.getByRole('region', { name: 'Running jobs' })
    const all = cards.getByRole('button', { name: 'Cancel all' })
    try {
      await page.setViewportSize({ width: 390, height: 760 })
      for (const dir of ['ltr', 'rtl']) {
        await page.evaluate((value) => (document.documentElement.dir = value), dir)
        await all.scrollIntoViewIfNeeded()
        const box = await all.boundingBox()
        expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect(overflow).toBeLessThanOrEqual(0)
      }
    } finally {
      await page.evaluate(() => (document.documentElement.dir = 'ltr'))
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    // One of them, and then the others.
    await cards
      .getByRole('region', { name: /: notes$/ })
      .getByRole('button', { name: 'Cancel import' })
      .click()
    await cards.getByText('3 tasks of this import are running').waitFor()
    const cancelled = page.waitForResponse(/\/trpc\/jobs\.cancel/)
    await all.click()
    await cancelled
    // The first one has the turn that is held.
    await release()
    await cards.getByText('Import cancelled. Nothing was imported.').nth(2).waitFor()
    await all.waitFor({ state: 'detached' })
    expect(await tables()).toEqual([])
    for (let left = 4; left > 0; left--) await cards.getByRole('button', { name: 'Close' }).first().click()
    await cards.waitFor({ state: 'detached' })
  })

  test('puts the lists in JSON records into the table of the link field that is called like them', async () => {
    const trpc = app.trpc(owner.token)
    const create = (title: string, field: string) =>
      trpc.schema.createTable.mutate({
        baseId: base.id,
        title,
        fields: [{ title: field, type: 'SingleLineText' }],
      })
    const { table: orders } = await create('Orders', 'order')
    const { table: lines } = await create('Lines', 'item')
    await trpc.schema.createField.mutate({
      tableId: orders.id,
      field: { title: 'lines', type: 'Links', options: { kind: 'hm', relatedTableId: lines.id } },
    })
    const file = [
      { order: 'A-1', lines: [{ item: 'Pen' }, { item: 'Ink' }] },
      { order: 'A-2', lines: [] },
    ]
    await page.reload()
    await choose(csv('orders.json', JSON.stringify(file)))
    await dialog().getByLabel('Existing table').check()
    await dialog().getByLabel('Table', { exact: true }).selectOption('Orders')
    await dialog().getByLabel('Field for lines').waitFor()
    const loading = /\/trpc\/[^?]*schema\.table\b/
    const held = Promise.withResolvers<void>()
    await page.route(loading, async (route) => {
      await held.promise
      await route.continue()
    })
    await dialog().getByLabel('Import table lines').check()
    // Before its table is known, the list would go into a new one.
    await dialog()
      .getByRole('button', { name: /^Import/, disabled: true })
      .waitFor()
    held.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    await dialog().getByRole('button', { name: 'lines', exact: true }).click()
    await dialog().getByText('Link to Orders').waitFor()
    expect(await dialog().getByLabel('Table', { exact: true }).inputValue()).toBe(lines.id)
    await start()
    await dialog()
      .getByText(/ in Lines is linked to Orders: 2 records\./)
      .waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    const { fields } = await trpc.schema.table.query({ tableId: orders.id })
    const fieldIds = ['order', 'lines'].map((title) => fields.find((field) => field.title === title)!.id)
    const listed = await trpc.records.list.query({
      query: { tableId: orders.id, fieldIds, limit: 10, offset: 0 },
    })
    expect(listed.rows.map(([order, cell]) => [order, readLinks(cell ?? null).count])).toEqual([
      ['A-1', 2],
      ['A-2', 0],
    ])
  })

  test('counts the links of lists before and after, in a narrow window and from right to left as well', async () => {
    const trpc = app.trpc(owner.token)
    const long = `of a shop with a very long name ${'x'.repeat(60)}`
    const create = (title: string, field: string) =>
      trpc.schema.createTable.mutate({
        baseId: base.id,
        title: `${title} ${long}`,
        fields: [{ title: field, type: 'SingleLineText' }],
      })
    const { table: orders, fields } = await create('Orders', 'order')
    const { table: lines } = await create('Lines', 'item')
    await trpc.schema.createField.mutate({
      tableId: orders.id,
      field: { title: 'lines', type: 'Links', options: { kind: 'hm', relatedTableId: lines.id } },
    })
    const order = fields.find(({ title }) => title === 'order')!.id
    await trpc.records.write.mutate({
      change: {
        baseId: base.id,
        operations: [{ kind: 'insert', tableId: orders.id, rows: [{ values: { [order]: 'A-1' } }] }],
      },
    })
    const file = [
      { order: 'A-1', lines: [{ item: 'Pen' }, { item: 'Ink' }], notes: [{ note: 'soon' }] },
      { order: 'A-2', lines: [{ item: 'Cup' }] },
    ]
    await page.reload()
    await choose(csv('orders.json', JSON.stringify(file)))
    await dialog().getByLabel('Existing table').check()
    await dialog().getByLabel('Table', { exact: true }).selectOption(orders.title)
    await dialog().getByLabel('Field for lines').waitFor()
    await dialog().getByLabel('Rows').selectOption('Update existing records and add the others')
    await dialog().getByLabel('Import table lines').check()
    await dialog().getByLabel('Import table notes').check()
    await dialog().getByRole('button', { name: 'lines', exact: true }).click()
    await dialog().getByText(`Link to ${orders.title}`).waitFor()
    /** Everything of the dialog is within the narrow window. */
    const fits = async (name: string) => {
      try {
        await page.setViewportSize({ width: 390, height: 760 })
        for (const dir of ['ltr', 'rtl']) {
          await page.evaluate((value) => (document.documentElement.dir = value), dir)
          const wide = await dialog().evaluate(
            (shown) =>
              [...shown.querySelectorAll('section, section *')].filter(
                (each) =>
                  each.getBoundingClientRect().right > 390.5 || each.getBoundingClientRect().left < -0.5,
              ).length,
          )
          expect([name, dir, wide]).toEqual([name, dir, 0])
        }
      } finally {
        await page.evaluate(() => (document.documentElement.dir = 'ltr'))
        await page.setViewportSize({ width: 1280, height: 800 })
      }
    }
    await dialog().getByRole('button', { name: 'Preview changes' }).click()
    const preview = page.getByRole('dialog', { name: 'Preview of changes' })
    const counted = preview.locator('dl', { hasText: 'Links to' })
    await counted.waitFor()
    expect(await counted.textContent()).toBe(`New3Changed0Unchanged0Links to ${orders.title}3`)
    await preview.locator('dl').nth(1).waitFor()
    await fits('preview')
    await preview.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog().getByText(`is linked to ${orders.title}: 3 records.`).waitFor()
    // That of the new table is made afterwards.
    await dialog().getByText(`is linked to ${orders.title}: 1 record.`).waitFor()
    await fits('report')
    await dialog().getByRole('button', { name: 'Done' }).click()
  })

  test('breaks nothing in the page', () => {
    expect(problems).toEqual([])
  })
})
