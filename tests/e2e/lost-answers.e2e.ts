import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PASSWORD } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, type OpenTable, untilCount } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]

/** Carries out the next call of a procedure, and cuts the connection before its answer, after `meanwhile`. */
const loseAnswer = (page: Page, procedure: string, meanwhile: () => Promise<unknown> = async () => {}) =>
  page.route(
    `**/trpc/${procedure}*`,
    async (route) => {
      await route.fetch()
      await meanwhile()
      await route.abort()
    },
    { times: 1 },
  )

const api = () => tests.app().trpc(tests.owner().token)

async function storedTitles({ tableId }: OpenTable): Promise<unknown[]> {
  const { body } = await tests.app().rest(tests.owner().token).get(`/api/v2/tables/${tableId}/records`)
  return body.list.map((record: { Title: unknown }) => record.Title)
}

const write = ({ baseId, tableId, schema }: OpenTable, title: string) => {
  const rows = [{ values: { [schema.fields.find((field) => field.title === 'Title')!.id]: title } }]
  return api().records.write.mutate({ change: { baseId, operations: [{ kind: 'insert', tableId, rows }] } })
}

const fieldTitles = async ({ tableId }: OpenTable) =>
  (await api().schema.table.query({ tableId })).fields.map((one) => one.title)

/** The browser notes each call that failed. */
const ignoreFailedCalls = (grid: GridPage) => {
  grid.problems.length = 0
}

describe('a call whose answer is lost', () => {
  test('adds the record of the dialog once', async () => {
    const table = await tests.createTable(FIELDS, [['a']])
    const view = await api().views.create.mutate({ tableId: table.tableId, title: 'Cards', kind: 'gallery' })
    const grid = await tests.openTable(table, tests.owner(), {}, { viewId: view.id })
    const { page } = grid
    await page.getByTestId('gallery-card').first().waitFor()
    await loseAnswer(page, 'records.write')
    await page.keyboard.press('Alt+r')
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title').fill('fresh')
    await dialog.getByTestId('create-record').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await storedTitles(table)).toEqual(['a', 'fresh'])
    ignoreFailedCalls(grid)
  })

  test('deletes the records of a view once, and none that others have added since', async () => {
    const table = await tests.createTable(FIELDS, [['a'], ['b']])
    const grid = await tests.openTable(table)
    const { page } = grid
    await loseAnswer(page, 'records.deleteMatching', () => write(table, 'of somebody else'))
    await page.getByTestId('check-all').check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('The connection was lost before the server answered.').waitFor()
    await untilCount(grid, '1 record')
    expect(await storedTitles(table)).toEqual(['of somebody else'])
    expect(grid.calls.filter((call) => call === 'records.deleteMatching')).toHaveLength(1)
    ignoreFailedCalls(grid)
  })

  test('adds a field once, and says that the answer is missing', async () => {
    const table = await tests.createTable(FIELDS, [['a']])
    const grid = await tests.openTable(table)
    const { page } = grid
    const before = await fieldTitles(table)
    await loseAnswer(page, 'schema.createField')
    await page.getByTestId('add-field').click()
    const editor = page.getByTestId('field-editor')
    await editor.getByRole('button', { name: 'Add field' }).click()
    await editor.getByText('The connection was lost before the server answered.').waitFor()
    expect(grid.calls.filter((call) => call === 'schema.createField')).toHaveLength(1)
    expect(await fieldTitles(table)).toHaveLength(before.length + 1)
    ignoreFailedCalls(grid)
  })
})

test('deleting the records of a view does not wait for the connection', async () => {
  const table = await tests.createTable(FIELDS, [['a'], ['b']])
  const grid = await tests.openTable(table)
  const { page } = grid
  await page.route('**/trpc/records.write*', (route) => route.abort())
  await grid.cell(0, 'Title').click()
  await page.keyboard.type('c', { delay: 0 })
  await page.keyboard.press('Enter')
  await page.getByTestId('queue-bar').waitFor()
  await page.getByTestId('check-all').check()
  await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('The server can’t be reached.').first().waitFor()
  await page.unroute('**/trpc/records.write*')
  await eventually(
    () => storedTitles(table),
    (titles) => Bun.deepEquals(titles, ['c', 'b']),
  )
  await page.getByTestId('queue-bar').waitFor({ state: 'detached' })
  expect(grid.calls).not.toContain('records.deleteMatching')
  ignoreFailedCalls(grid)
})

test('a view that cannot be deleted without a connection stays', async () => {
  const table = await tests.createTable(FIELDS, [['a']])
  const view = await api().views.create.mutate({ tableId: table.tableId, title: 'Other', kind: 'grid' })
  const grid = await tests.openTable(table, tests.owner(), {}, { viewId: view.id })
  const { page } = grid
  await grid.cell(0, 'Title').waitFor()
  const link = page.getByRole('navigation').getByRole('link', { name: 'Other' })
  await link.click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await page.context().setOffline(true)
  await dialog.getByRole('button', { name: 'Delete view' }).click()
  await page.getByText('The connection was lost before the server answered.').waitFor()
  expect(await link.isVisible()).toBe(true)
  expect(page.url()).toContain(view.id)
  await page.context().setOffline(false)
  ignoreFailedCalls(grid)
})

test('emptying the trash does not wait for the connection', async () => {
  const table = await tests.createTable(FIELDS, [['a'], ['b']])
  await api().records.deleteMatching.mutate({ selection: { tableId: table.tableId, recordIds: [1] } })
  const grid = await tests.openTable(table)
  const { page } = grid
  await page.getByRole('link', { name: 'Trash' }).click()
  await page.getByRole('button', { name: 'Empty trash' }).click()
  const dialog = page.getByRole('dialog')
  const { title } = await api().bases.get.query({ baseId: table.baseId })
  await dialog.getByRole('textbox').fill(title)
  await page.context().setOffline(true)
  await dialog.getByRole('button', { name: 'Delete forever' }).click()
  await page.getByText('The connection was lost before the server answered.').waitFor()
  await page.context().setOffline(false)
  // Longer than a queued call waits until it is sent again.
  await Bun.sleep(2500)
  const { items } = await api().trash.list.query({ baseId: table.baseId })
  expect(items).toHaveLength(1)
  await eventually(
    async () => grid.calls.filter((call) => call === 'trash.empty').length,
    (count) => count === 1,
  )
  ignoreFailedCalls(grid)
})

test('a change that a proxy refuses as too large is refused, and later ones are stored', async () => {
  const table = await tests.createTable(FIELDS, [['a'], ['b']])
  const grid = await tests.openTable(table)
  const { page } = grid
  await page.route('**/trpc/records.write*', (route) =>
    route.request().postData()?.includes('much too large')
      ? route.fulfill({
          status: 413,
          contentType: 'text/html',
          body: '<h1>413 Request Entity Too Large</h1>',
        })
      : route.fallback(),
  )
  await grid.cell(0, 'Title').click()
  await page.keyboard.type('much too large', { delay: 0 })
  await page.keyboard.press('Enter')
  await page.keyboard.type('c', { delay: 0 })
  await page.keyboard.press('Enter')
  await eventually(
    () => storedTitles(table),
    (titles) => Bun.deepEquals(titles, ['a', 'c']),
  )
  expect(await page.getByTestId('queue-bar').count()).toBe(0)
  await grid.shows('Title', ['much too large', 'c'])
  ignoreFailedCalls(grid)
})

describe('signing out', () => {
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  const openAsMember = async () => {
    const table = await tests.createTable(FIELDS, [['a'], ['b']])
    const member = await createMember(tests.app(), table.baseId, 'editor')
    return { table, member, grid: await tests.openTable(table, member) }
  }

  test('waits for changes that are on their way', async () => {
    const { table, grid } = await openAsMember()
    const { page } = grid
    // The wait ends with the answers, however long a busy machine takes.
    await page.evaluate(() => {
      const start = window.setTimeout
      const later = (run: () => void, ms?: number) => start(run, ms === 5000 ? 60_000 : ms)
      window.setTimeout = later as typeof window.setTimeout
    })
    const released = Promise.withResolvers<void>()
    await page.route('**/trpc/records.write*', async (route) => {
      await released.promise
      await route.continue()
    })
    await grid.cell(0, 'Title').click()
    for (const text of ['one', 'two']) {
      await page.keyboard.type(text, { delay: 0 })
      await page.keyboard.press('Enter')
    }
    await signOut(page)
    await page.getByText('Saving your last changes…').waitFor()
    await signOut(page)
    expect(grid.calls).not.toContain('auth.signOut')
    released.resolve()
    await page.waitForURL(/#\/signin/)
    expect(await storedTitles(table)).toEqual(['one', 'two'])
    expect(grid.calls.filter((call) => call === 'auth.signOut')).toHaveLength(1)
  })

  test('asks while changes wait for the connection', async () => {
    const { table, grid } = await openAsMember()
    const { page } = grid
    // Loads the code of menus and dialogs.
    await page.getByRole('button', { name: 'Account menu' }).click()
    const item = page.getByRole('menuitem', { name: 'Sign out' })
    await item.waitFor()
    await page.keyboard.press('Escape')
    await item.waitFor({ state: 'detached' })
    await page.context().setOffline(true)
    await grid.cell(0, 'Title').click()
    await page.keyboard.type('last', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByTestId('queue-bar').waitFor()
    await signOut(page)
    const dialog = page.getByRole('dialog', { name: 'Sign out without saving?' })
    await dialog.getByText('1 change or file is not saved yet.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    // The address that signs out asks as well.
    const address = page.url()
    await page.evaluate(() => {
      location.hash += '?logout'
    })
    await dialog.getByText('1 change or file is not saved yet.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(address)
    await page.context().setOffline(false)
    await eventually(
      () => storedTitles(table),
      (titles) => Bun.deepEquals(titles, ['last', 'b']),
    )
    ignoreFailedCalls(grid)
  })

  test('loses the changes that were given up, also for the same person', async () => {
    const { table, grid, member } = await openAsMember()
    const { page } = grid
    await page.route('**/trpc/records.write*', (route) => route.abort())
    await grid.cell(0, 'Title').click()
    await page.keyboard.type('last', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByTestId('queue-bar').waitFor()
    await signOut(page)
    const dialog = page.getByRole('dialog', { name: 'Sign out without saving?' })
    await dialog.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/#\/signin/)
    const asks = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(await page.evaluate(asks)).toBe(false)
    const loaded = await page.evaluate(() => performance.timeOrigin)
    await page.getByLabel('Email').fill(member.email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Account menu' }).waitFor()
    await eventually(
      () => page.evaluate(() => performance.timeOrigin),
      (origin) => origin > loaded,
    )
    expect(await storedTitles(table)).toEqual(['a', 'b'])
    ignoreFailedCalls(grid)
  })
})
