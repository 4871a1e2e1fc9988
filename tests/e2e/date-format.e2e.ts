import { expect, test } from 'bun:test'
import { createLink } from './date-format-tables.ts'
import { gridTests, textOf } from './grid-page.ts'

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
  await page.locator('article, [data-card], [class*=card]', { hasText: shown }).first().waitFor()

  await open(views.calendar)
  const line = page.locator('[data-testid="calendar-list-row"]', { hasText: shown })
  await line.waitFor()
  expect(await textOf(line)).not.toContain('2024-03-05')
  expect(await textOf(line)).not.toContain('Mar')

  // A filter on the day: its input takes and shows the format, or ISO.
  await open(views.grid)
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
}, 60_000)
