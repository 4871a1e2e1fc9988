import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, type OpenTable } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Qty', type: 'Number' as const },
]
const items = (count: number) => Array.from({ length: count }, (_, at) => [`Item ${at + 1}`, at + 1])

const fieldId = ({ schema }: OpenTable, name: string) =>
  schema.fields.find(({ title }) => title === name)?.id ?? ''

/** Sets the quantity of records, as one action. */
const setQty = (token: string, table: OpenTable, ids: number[], value: number) =>
  tests
    .app()
    .trpc(token)
    .records.write.mutate({
      change: {
        baseId: table.baseId,
        operations: [
          {
            kind: 'update',
            tableId: table.tableId,
            rows: ids.map((id) => ({ id, values: { [fieldId(table, 'Qty')]: value } })),
          },
        ],
      },
    })

const quantities = async (table: OpenTable) => {
  const page = await tests
    .app()
    .trpc(tests.owner().token)
    .records.list.query({
      query: { tableId: table.tableId, fieldIds: [fieldId(table, 'Qty')], limit: 20, offset: 0 },
    })
  return page.rows.map(([qty]) => qty)
}

async function untilQuantities(table: OpenTable, wanted: number[]): Promise<void> {
  const read = await eventually(
    () => quantities(table),
    (now) => Bun.deepEquals(now, wanted),
  )
  expect(read).toEqual(wanted)
}

async function untilRows({ page }: GridPage, wanted: number): Promise<void> {
  const rows = page.getByTestId('history-action')
  expect(
    await eventually(
      () => rows.count(),
      (count) => count === wanted,
    ),
  ).toBe(wanted)
}

const row = ({ page }: GridPage, text: string) =>
  page.locator('[data-testid=history-action][data-step=did]').filter({ hasText: text })

/** Keeps a picture where the developer asks for it. */
async function picture({ page }: GridPage, name: string): Promise<void> {
  const folder = process.env.TEST_PICTURES
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png` })
}

describe('the activity of a base', () => {
  test('shows live what others do, and is limited by kind, person and record', async () => {
    const table = await tests.createTable(FIELDS, items(3))
    const ann = await createMember(tests.app(), table.baseId, 'editor')
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.getByRole('link', { name: 'History' }).click()
    await row(grid, 'New record').or(row(grid, 'new records')).first().waitFor()
    await setQty(ann.token, table, [1], 10)
    await row(grid, 'Qty of Item 1: 1 → 10').waitFor()
    await tests
      .app()
      .trpc(ann.token)
      .comments.create.mutate({ tableId: table.tableId, recordId: 2, text: `**Really**, @(${ann.id})?` })
    const comment = page.locator('[data-step=comment]').filter({ hasText: `Really, @${ann.email}?` })
    await comment.waitFor()
    await picture(grid, 'feed')
    await page.getByLabel('Kind of change').selectOption('comments')
    await untilRows(grid, 1)
    expect(page.url()).toContain('kind=comments')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Person').selectOption({ label: ann.email })
    await untilRows(grid, 2)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Find a record').fill('Item 1')
    await page.getByTestId('record-matches').getByRole('button', { name: 'Item 1' }).click()
    await comment.waitFor({ state: 'detached' })
    expect(page.url()).toContain('rowId=1')
    await row(grid, 'Qty of Item 1: 1 → 10').waitFor()
    await page.getByLabel('To day').fill('2020-01-01')
    await page.getByText('No entry matches').waitFor()
    await picture(grid, 'empty')
  })

  test('shows the values of a change, and reverts it without what was changed since', async () => {
    const table = await tests.createTable(FIELDS, items(3))
    const ann = await createMember(tests.app(), table.baseId, 'editor')
    await setQty(tests.owner().token, table, [1, 2, 3], 50)
    await setQty(ann.token, table, [2], 51)
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.getByRole('link', { name: 'History' }).click()
    const mine = row(grid, 'Qty in 3 records')
    await mine.getByRole('button', { name: 'Details' }).click()
    const details = mine.getByTestId('entry-details')
    await details.getByRole('link', { name: 'Item 3' }).waitFor()
    expect(await details.locator('li').count()).toBe(3)
    await picture(grid, 'details')
    await mine.getByRole('button', { name: 'Undo' }).click()
    const preview = page.getByRole('dialog')
    await preview.getByText('2 records get earlier values').waitFor()
    await preview.getByText(`Qty of Item 2, changed by ${ann.email}`).waitFor()
    await picture(grid, 'revert')
    await preview.getByRole('button', { name: 'Undo' }).click()
    await untilQuantities(table, [1, 51, 3])
    await mine.getByRole('button', { name: 'Redo' }).waitFor()
    await page.locator('[data-step=undid]').first().waitFor()
    await mine.getByRole('button', { name: 'Redo' }).click()
    await untilQuantities(table, [50, 51, 50])
    await details.getByRole('link', { name: 'Item 3' }).click()
    await page.getByRole('tab', { name: 'History' }).waitFor()
  })

  test('restores a table to the time before a change, and offers to undo that', async () => {
    const table = await tests.createTable(FIELDS, items(3))
    await setQty(tests.owner().token, table, [1, 2, 3], 50)
    await setQty(tests.owner().token, table, [1], 60)
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.getByRole('link', { name: 'History' }).click()
    await row(grid, 'Qty in 3 records')
      .getByRole('button', { name: /^Restore .* before this change$/ })
      .click()
    const dialog = page.getByTestId('restore-table')
    await dialog.getByText('3 records get earlier values').waitFor()
    await picture(grid, 'restore-table')
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await untilQuantities(table, [1, 2, 3])
    await page.locator('[data-toasts]').getByRole('button', { name: 'Undo', exact: true }).click()
    await untilQuantities(table, [60, 50, 50])
    await page.getByLabel('Table', { exact: true }).selectOption(table.tableId)
    await page.getByRole('button', { name: 'Restore table…' }).click()
    await page.getByRole('dialog').getByText('did not exist at that time').waitFor()
    // The browser reports the refusal as well.
    grid.problems.splice(0)
  })

  test('restores a version of a record from its panel', async () => {
    const table = await tests.createTable(FIELDS, items(2))
    await setQty(tests.owner().token, table, [1], 50)
    await setQty(tests.owner().token, table, [1], 60)
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.evaluate(() => {
      location.hash += '?rowId=1'
    })
    await page.getByRole('tab', { name: 'History' }).click()
    const versions = page.getByRole('button', { name: 'Restore this version' })
    await versions.first().waitFor()
    expect(await versions.count()).toBe(2)
    await versions.last().click()
    const dialog = page.getByTestId('restore-version')
    await dialog.getByText('Qty').waitFor()
    await picture(grid, 'restore-version')
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click()
    await untilQuantities(table, [1, 2])
    await page.locator('[data-toasts]').getByRole('button', { name: 'Undo', exact: true }).click()
    await untilQuantities(table, [60, 2])
  })

  test('fits a narrow window and a page that reads from right to left', async () => {
    const long = 'A very long title that does not fit into the line of a narrow window '.repeat(4)
    const table = await tests.createTable(FIELDS, [[long, 1]])
    await setQty(tests.owner().token, table, [1], 50)
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.evaluate((path) => {
      location.hash = path
    }, `/nc/${table.baseId}/history`)
    await row(grid, 'Qty of').first().waitFor()
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await page.setViewportSize({ width: 400, height: 800 })
    await eventually(
      () => page.evaluate(() => document.documentElement.scrollWidth),
      (width) => width <= 400,
    ).then((width) => expect(width).toBeLessThanOrEqual(400))
    await picture(grid, 'narrow-rtl')
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.evaluate(() => {
      document.documentElement.dir = 'ltr'
    })
  })
})
