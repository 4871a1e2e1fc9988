import { expect, test } from 'bun:test'
import { createLink } from './date-format-tables.ts'
import { gridTests, textOf, untilInput } from './grid-page.ts'

const tests = gridTests()

test('a day looks the same in cells, titles, cards, chips, filters and the calendar: as its field says', async () => {
  const { table, chips, day, views } = await createLink(tests)
  const { page } = await tests.openTable(table)
  const open = (viewId: string) =>
    page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}/${viewId}`)
  const shown = '05/03/2024'

  await open(views.grid)
  await page.locator('[role="gridcell"]', { hasText: shown }).first().waitFor()

  // The heading of an open record, and its history.
  await page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}/${views.grid}?rowId=1`)
  await page.getByTestId('record-panel').getByRole('heading', { name: shown }).waitFor()

  await open(views.gallery)
  await page.getByTestId('gallery-card').filter({ hasText: shown }).first().waitFor()

  await open(views.calendar)
  const line = page.locator('[data-testid="calendar-list-row"]', { hasText: shown })
  await line.waitFor()
  expect(await textOf(line)).not.toContain('2024-03-05')
  expect(await textOf(line)).not.toContain('Mar')

  // A filter on the day: its input takes and shows the format, or ISO.
  await open(views.grid)
  // The calendar, which is left, has such a button as well.
  await untilInput(page)
  await page.getByTestId('filter-button').click()
  const input = page.getByLabel('Date', { exact: true })
  expect(await input.inputValue()).toBe(shown)
  await input.fill('6/3/2024')
  await page.locator('[role="gridcell"]', { hasText: '06/03/2024' }).first().waitFor()
  await input.fill('soon')
  expect(await input.getAttribute('aria-invalid')).toBe('true')
  await input.fill('2024-03-05')
  await page.getByRole('button', { name: 'Choose a day' }).click()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  expect(await input.inputValue()).toBe('06/03/2024')
  await page.keyboard.press('Escape')

  // The chips of another table that links to it.
  await page.goto(`${tests.app().url}/#/nc/${chips.baseId}/${chips.tableId}`)
  await page.locator('[role="gridcell"]', { hasText: shown }).first().waitFor()
  expect(await page.locator('[role="gridcell"]', { hasText: day }).count()).toBe(0)
})

test('a day looks as its field says on public links, and in the rules of a form', async () => {
  const { table, chips, day } = await createLink(tests)
  const api = tests.app().trpc(tests.owner().token)
  const shown = '05/03/2024'
  const share = async (tableId: string, kind: 'grid' | 'form') => {
    const view = await api.views.create.mutate({ tableId, title: `Public ${kind}`, kind })
    const { fields } = await api.schema.table.query({ tableId })
    await api.views.arrange.mutate({
      viewId: view.id,
      fields: fields
        .filter((field) => !field.isSystem && !field.isPrimaryKey)
        .map(({ id }, order) => ({ fieldId: id, show: true, order })),
    })
    const { id } = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    return { view, id }
  }
  const { page } = await tests.openTable(table)

  const grid = await share(chips.tableId, 'grid')
  await page.goto(`${tests.app().url}/shared#/nc/view/${grid.id}`)
  await page.locator('[role="gridcell"]', { hasText: shown }).first().waitFor()
  expect(await page.locator('[role="gridcell"]', { hasText: day }).count()).toBe(0)

  const form = await share(chips.tableId, 'form')
  await page.goto(`${tests.app().url}/form#/nc/form/${form.id}`)
  await page.locator('button[aria-haspopup="listbox"]').click()
  await page.getByText(shown).first().click()
  await page.getByRole('button', { name: `Remove ${shown}` }).waitFor()

  const asking = await share(table.tableId, 'form')
  await page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}/${asking.view.id}`)
  await page.getByText('Day', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('menuitem', { name: 'Not before' }).click()
  await page.getByTestId('form-rule').getByLabel('Date', { exact: true }).fill(shown)
  await page.getByRole('button', { name: 'Choose a day' }).waitFor()
  await page.reload()
  await page.getByText('Day', { exact: true }).first().click()
  await page.waitForFunction(
    (shown) =>
      document.querySelector<HTMLInputElement>('[data-testid="form-rule"] input[aria-label="Date"]')
        ?.value === shown,
    shown,
  )
})

test('a day chosen for a date-time is kept where its format does not show it, with the time', async () => {
  const fields = [
    { title: 'Title', type: 'SingleLineText' as const },
    {
      title: 'Month',
      type: 'DateTime' as const,
      options: { format: 'YYYY-MM', timeZone: 'Europe/Berlin' },
    },
    {
      title: 'Year',
      type: 'DateTime' as const,
      options: { format: 'DD MMM YY', time12h: true, timeZone: 'UTC' },
    },
  ]
  const table = await tests.createTable(fields, [
    ['a', '2024-03-15 23:30:00+00:00', '1950-03-16 13:00:07+00:00'],
  ])
  const { page, cell, saved } = await tests.openTable(table)
  const choose = async (title: string, day: string) => {
    await cell(0, title).dblclick()
    await page.locator(`[data-cell-popover] [data-day="${day}"]`).click()
    await page.keyboard.press('Enter')
    await saved()
  }
  await choose('Month', '2024-03-20')
  await choose('Year', '1950-03-05')
  const api = tests.app().trpc(tests.owner().token)
  const { values } = await api.records.get.query({ tableId: table.tableId, recordId: 1 })
  const storedIn = (title: string) => values[table.schema.fields.find((one) => one.title === title)?.id ?? '']
  // Half past midnight in Berlin, as before on the 16th.
  expect(storedIn('Month')).toBe('2024-03-19 23:30:00+00:00')
  expect(storedIn('Year')).toBe('1950-03-05 13:00:07+00:00')
})
