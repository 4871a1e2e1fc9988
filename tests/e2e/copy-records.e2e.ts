import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually, gridTests, untilCount } from './grid-page.ts'
import { see, tableLink } from './shell-page.ts'

const tests = gridTests()

const menuItem = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true })

describe('copying and moving checked records to another table', () => {
  test('previews what does not fit, takes another mapping, and is undone in one step', async () => {
    const table = await tests.createTable(
      [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Price', type: 'SingleLineText' },
        { title: 'Details', type: 'SingleLineText' },
      ],
      [
        ['Lid', '4', 'red'],
        ['Leg', 'cheap', 'blue'],
        ['Seat', '9', 'green'],
      ],
    )
    const trpc = tests.app().trpc(tests.owner().token)
    await trpc.schema.createTable.mutate({
      baseId: table.baseId,
      title: 'Stock',
      fields: [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Price', type: 'Number' },
        { title: 'Notes', type: 'SingleLineText', required: true },
      ],
    })
    const grid = await tests.openTable(table)
    const { page } = grid
    const dialog = page.getByRole('dialog', { name: /to a table$/ })
    for (const row of [0, 1]) {
      await page.locator(`[data-part="rowNumber"][data-row="${row}"]`).hover()
      await page.locator(`[data-part="rowCheck"][data-row="${row}"]`).click()
    }
    const bar = page.getByTestId('bulk-bar')
    await bar.getByRole('button', { name: 'Copy or move' }).click()
    await menuItem(page, 'Move to table…').click()
    await see(dialog.getByText('Move 2 records to a table'))
    await see(dialog.getByText('“Notes” is required, and 2 records have no value for it'))
    const submit = dialog.getByRole('button', { name: 'Move' })
    expect(await submit.isDisabled()).toBe(true)
    await see(dialog.getByText('These fields are not copied:').filter({ hasText: 'Details' }))
    await dialog.getByLabel('Notes (required)').selectOption({ label: 'Details' })
    await see(dialog.getByText('1 value does not fit in “Price”'))
    await dialog.getByText('1 value does not fit in “Price”').click()
    await see(dialog.getByText('cheap'))
    await eventually(
      () => submit.isEnabled(),
      (isEnabled) => isEnabled,
    )
    await submit.click()
    await dialog.waitFor({ state: 'detached' })
    await see(page.getByText('2 records were moved to “Stock”'))
    await untilCount(grid, '1 record')
    expect(await bar.count()).toBe(0)
    await tableLink(page, 'Stock').click()
    await untilCount(grid, '2 records')
    await see(page.getByRole('gridcell', { name: 'Leg' }))
    await see(page.getByRole('gridcell', { name: 'blue' }))
    await tableLink(page, 'Tasks').click()
    await untilCount(grid, '1 record')
    await page.keyboard.press('Control+z')
    await untilCount(grid, '3 records')
    await tableLink(page, 'Stock').click()
    await untilCount(grid, '0 records')
  })

  test('moves thousands in the background, with the first of them previewed', async () => {
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [])
    const { trpc, rest } = {
      trpc: tests.app().trpc(tests.owner().token),
      rest: tests.app().rest(tests.owner().token),
    }
    await trpc.schema.createTable.mutate({
      baseId: table.baseId,
      title: 'Archive',
      fields: [{ title: 'Title', type: 'SingleLineText' }],
    })
    for (const count of [1_000, 200])
      await rest.post(
        `/api/v2/tables/${table.tableId}/records`,
        Array.from({ length: count }, (_, at) => ({ Title: `row ${at}` })),
      )
    const grid = await tests.openTable(table)
    const { page } = grid
    const dialog = page.getByRole('dialog')
    await untilCount(grid, '1,200 records')
    await page.getByRole('checkbox', { name: 'Select all records' }).click()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Copy or move' }).click()
    await menuItem(page, 'Move to table…').click()
    await see(dialog.getByText('Move 1,200 records to a table'))
    await dialog.getByLabel('Table').selectOption({ label: 'Archive' })
    await see(dialog.getByText('This shows the first 1,000 records.'))
    await dialog.getByRole('button', { name: 'Move' }).click()
    await see(page.getByText('1,200 records were moved to “Archive”'))
    await dialog.waitFor({ state: 'detached' })
    await untilCount(grid, '0 records')
    await page.keyboard.press('Control+z')
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await untilCount(grid, '1,200 records')
  })
})
