import { describe, expect, test } from 'bun:test'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

/**
 * A zone whose day is not that of UTC, and does not change during the test: in Niue it changes at 11:00 UTC, on
 * Kiritimati at 10:00.
 */
function zoneOfAnotherDay(): string {
  const now = new Date()
  const isBefore = now.getUTCHours() * 60 + now.getUTCMinutes() < 10 * 60 + 30
  return isBefore ? 'Pacific/Niue' : 'Pacific/Kiritimati'
}

const today = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date())

test('the default value of a long text keeps its lines', async () => {
  const grid = await tests.open(
    [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Minutes', type: 'LongText' as const, defaultValue: 'Present:\nDecisions:' },
    ],
    [['first', null]],
  )
  const { page } = grid
  await grid.header('Minutes').dblclick()
  const editor = page.getByTestId('field-editor')
  const value = editor.getByLabel('Default value', { exact: true })
  expect(await value.inputValue()).toBe('Present:\nDecisions:')
  await value.press('ControlOrMeta+End')
  await value.press('Enter')
  await page.keyboard.type('Open:')
  await editor.getByRole('button', { name: 'Save field' }).click()
  await editor.waitFor({ state: 'detached' })
  await grid.header('Minutes').dblclick()
  expect(await value.inputValue()).toBe('Present:\nDecisions:\nOpen:')
})

describe('a default value of the moment', () => {
  test('is chosen beside a fixed one, and stands in the new row by the clock of who adds it', async () => {
    const timezoneId = zoneOfAnotherDay()
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Due', type: 'Date' as const },
    ]
    const table = await tests.createTable(fields, [['first']])
    const grid = await tests.openTable(table, tests.owner(), { timezoneId })
    const { page } = grid
    await grid.header('Due').dblclick()
    const editor = page.getByTestId('field-editor')
    await editor.getByRole('button', { name: 'Default value and description' }).click()
    const choice = editor.getByLabel('Default value', { exact: true })
    expect(await choice.locator('option').allTextContents()).toEqual([
      'None',
      'Current date',
      'Specific date',
    ])
    await choice.selectOption('Specific date')
    await editor.getByLabel('Specific value').fill('2024-03-05')
    await choice.selectOption('Current date')
    expect(await editor.getByLabel('Specific value').count()).toBe(0)
    await editor.getByRole('button', { name: 'Save field' }).click()
    await editor.waitFor({ state: 'detached' })

    await page.getByTestId('add-record').click()
    expect(await grid.cell(1, 'Due').textContent()).toContain(today(timezoneId))
    await page.keyboard.type('second')
    await page.keyboard.press('Enter')
    await eventually(grid.saved, () => true)
    await page.reload()
    await grid.cell(1, 'Due').waitFor()
    await grid.shows('Due', ['', today(timezoneId)])
  })
})
