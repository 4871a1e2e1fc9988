import { describe, expect, test } from 'bun:test'
import { eventually, gridTests, restingBox } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
]
const ROWS = [
  ['apple', 5],
  ['banana', 20],
]

const UNREACHABLE = /\/(assets|builds)\//

/** Two tables of one base; the second is on the screen, and Back leads to the first. */
async function openTwo() {
  const first = await tests.createTable(FIELDS, ROWS)
  const owners = tests.app().trpc(tests.owner().token)
  const second = await owners.schema.createTable.mutate({
    baseId: first.baseId,
    title: 'Second',
    fields: FIELDS,
  })
  const grid = await tests.openTable(first)
  const path = (tableId: string) => `#/nc/${first.baseId}/${tableId}`
  await grid.page.evaluate((hash) => {
    location.hash = hash
  }, path(second.table.id))
  await grid.page.getByRole('heading', { name: 'Second', level: 1 }).waitFor()
  await grid.page.getByTestId('add-record').waitFor()
  return { ...grid, path, first, second }
}

describe('a dialog that cannot be shown', () => {
  test('closes with the reason, and leaves the page as it is', async () => {
    const { page, problems } = await openTwo()
    // Routes pass by the cache of the browser, in which the dialog is if the test is repeated.
    await page.route(UNREACHABLE, (route) => route.abort('internetdisconnected'))
    await page.keyboard.press('Alt+i')
    await page.getByText('Part of the app could not be loaded').waitFor()
    expect(await page.getByTestId('add-record').count()).toBe(1)
    expect(await page.locator('#root').getAttribute('inert')).toBe(null)
    await page.unroute(UNREACHABLE)
    await page.keyboard.press('Alt+i')
    await page.getByRole('dialog', { name: 'Share' }).waitFor()
    // What the browser says of the lost connection is no fault of the page.
    problems.length = 0
  })

  test.each(['refuses', 'hangs'] as const)('does not reload the page while the server %s', async (how) => {
    const { page, problems } = await openTwo()
    const loaded = await page.evaluate(() => performance.timeOrigin)
    await page.route(UNREACHABLE, (route) => {
      if (how === 'refuses' || route.request().url().includes('/assets/')) return route.abort()
    })
    await page.keyboard.press('Alt+i')
    await page.getByText('Part of the app could not be loaded').waitFor()
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded)
    await page.unroute(UNREACHABLE)
    problems.length = 0
  })

  test.each(['record', 'field', 'list'] as const)('leaves the page too if it is a %s', async (kind) => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page, problems } = grid
    await grid.cell(0, 'Title').click()
    const bell = page.getByRole('button', { name: /notification/i })
    await bell.waitFor()
    await page.route(UNREACHABLE, (route) => route.abort())
    if (kind === 'record') await page.keyboard.press('Space')
    else if (kind === 'field') await grid.header('Stock').dblclick()
    else await bell.click()
    await page.getByText('Part of the app could not be loaded').waitFor()
    await grid.shows('Title', ['apple', 'banana'])
    expect(await page.getByText('Something went wrong').count()).toBe(0)
    await page.unroute(UNREACHABLE)
    problems.length = 0
  })
})

describe('Back', () => {
  test('closes the Share dialog of the table that is left', async () => {
    const { page } = await openTwo()
    await page.keyboard.press('Alt+i')
    const dialog = page.getByRole('dialog', { name: 'Share' })
    await dialog.waitFor()
    await page.goBack()
    expect(
      await eventually(
        () => dialog.count(),
        (count) => count === 0,
      ),
    ).toBe(0)
    await page.getByText('apple').waitFor()
    expect(await page.locator('#root').getAttribute('inert')).toBe(null)
  })

  test('closes menus, popovers and the field editor, with no change and no question', async () => {
    const { page, path, first, second } = await openTwo()
    const open: [string, () => Promise<void>][] = [
      [
        '[role="menu"]',
        () => page.locator('[role="columnheader"][data-field]').first().click({ button: 'right' }),
      ],
      ['[data-testid="field-editor"]', () => page.getByTestId('add-field').click()],
      ['[role="dialog"]', () => page.getByTestId('filter-button').click()],
    ]
    for (const [layer, press] of open) {
      await press()
      await page.locator(layer).first().waitFor()
      await page.goBack()
      await page.getByText('apple').waitFor()
      expect([layer, await page.locator(layer).count()]).toEqual([layer, 0])
      await page.evaluate((hash) => {
        location.hash = hash
      }, path(second.table.id))
      await eventually(
        () => page.getByText('apple').count(),
        (count) => count === 0,
      )
      await page.getByTestId('add-record').waitFor()
    }
    expect(first.tableId).not.toBe(second.table.id)
  })

  test('closes a dialog that was opened from a record, together with the record', async () => {
    const table = await tests.createTable([...FIELDS, { title: 'Notes', type: 'JSON' as const }], ROWS)
    const { page, cell } = await tests.openTable(table)
    await cell(0, 'Title').click()
    await page.keyboard.press('Space')
    await page.getByTestId('record-panel').waitFor()
    await page.keyboard.press('Alt+i')
    await page.getByRole('dialog', { name: 'Share' }).waitFor()
    await page.goBack()
    await page.getByTestId('record-panel').waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog', { name: 'Share' }).count()).toBe(0)
  })

  test('leaves a record open that the address still names', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const { page, cell } = await tests.openTable(table, undefined, {
      viewport: { width: 390, height: 844 },
    })
    await cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.waitFor()
    await page.goBack()
    await panel.waitFor({ state: 'detached' })
    await page.goForward()
    await panel.waitFor()
    expect(page.url()).toContain('rowId=')
  })
})

describe('a menu', () => {
  test('stays where it is when the pointer leaves its button, which shows under the pointer alone', async () => {
    const { page } = await tests.open(FIELDS, ROWS)
    const header = page.getByRole('columnheader').filter({ hasText: 'Title' }).first()
    await header.hover()
    await header.getByTestId('header-menu').click()
    const menu = page.getByRole('menu')
    const before = await restingBox(menu)
    await menu.getByRole('menuitem').last().hover()
    await header.getByTestId('header-menu').waitFor({ state: 'hidden' })
    // Positions are worked out anew when an anchor's size changes: a frame, and one for the observer.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
    expect(await menu.boundingBox()).toEqual(before)
  })
})

describe('Escape', () => {
  test('closes the list of types, and only then the field editor', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.getByTestId('add-field').click()
    const editor = page.getByTestId('field-editor')
    await editor.getByLabel('Field name').fill('Colour')
    await editor.getByTestId('field-type').click()
    const list = page.getByRole('listbox', { name: 'Field types' })
    await list.waitFor()
    await page.keyboard.type('num')
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    expect(await editor.getByLabel('Field name').inputValue()).toBe('Colour')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe('field-type')
    await page.keyboard.press('Escape')
    await editor.waitFor({ state: 'detached' })
  })
})
