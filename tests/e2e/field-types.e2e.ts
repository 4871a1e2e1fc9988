import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { copied, eventually, type GridPage, gridTests, holdScripts } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Year', type: 'Year' as const },
  { title: 'Time', type: 'Time' as const },
  { title: 'Long', type: 'Duration' as const },
  { title: 'Json', type: 'JSON' as const },
  { title: 'Place', type: 'GeoData' as const },
  { title: 'Shape', type: 'Geometry' as const },
]
const ROWS: CellValue[][] = [
  ['a', 1999, '09:05:00', 5400, '{"b": 1,  "a": [1.50]}', '48.85;2.35', 'POINT (1 2)'],
  ['b'],
]

/** Types into a cell and leaves it by Enter. */
async function type(grid: GridPage, row: number, title: string, text: string) {
  await grid.cell(row, title).click()
  await grid.page.keyboard.type(text, { delay: 0 })
  await grid.page.keyboard.press('Enter')
}

describe('years, times and durations', () => {
  test('are typed as people write them, from the first key', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await type(grid, 1, 'Year', '2024')
    await type(grid, 1, 'Time', '9:5pm')
    await type(grid, 1, 'Long', '1h 30m')
    await grid.shows('Year', ['1999', '2024'])
    await grid.shows('Time', ['09:05', '21:05'])
    await grid.shows('Long', ['1:30', '1:30'])
    expect(grid.writes()).toHaveLength(3)
  })

  test('are chosen from a grid of years and a list of half hours', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Year').dblclick()
    const thisYear = String(new Date().getFullYear())
    await page.getByRole('button', { name: thisYear, exact: true }).click()
    await grid.cell(0, 'Time').dblclick()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await grid.cell(1, 'Time').dblclick()
    await page.getByRole('option', { name: '08:30', exact: true }).click()
    await grid.shows('Year', ['1999', thisYear])
    await grid.shows('Time', ['09:30', '08:30'])
  })

  test('refuse what is none in place, keep the text, and leave the value by Escape', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    for (const [title, text, shown] of [
      ['Year', '20245', '1999'],
      ['Time', '25:00', '09:05'],
      ['Long', 'soon', '1:30'],
      ['Shape', 'POINT (1)', 'POINT (1 2)'],
    ] as const) {
      await type(grid, 0, title, text)
      await page.getByRole('alert').waitFor()
      expect(await page.getByTestId('cell-editor').locator('input').inputValue()).toBe(text)
      await page.keyboard.press('Escape')
      await grid.shows(title, [shown])
    }
    expect(grid.writes()).toEqual([])
  })

  test('are copied as text that can be pasted into them again', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Year').click()
    await grid.cell(0, 'Long').click({ modifiers: ['Shift'] })
    const { plain } = await copied(page)
    expect(plain.trim()).toBe('1999\t09:05\t1:30')
    await grid.cell(1, 'Year').click()
    await grid.paste('2001\t7pm\t0:45')
    expect(
      await eventually(
        () => grid.column('Long', 2),
        (texts) => texts[1] === '0:45',
      ),
    ).toEqual(['1:30', '0:45'])
    await grid.shows('Time', ['09:05', '19:00'])
  })
})

describe('JSON', () => {
  test('is kept to the last space unless it is changed', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Json').dblclick()
    await grid.page.getByRole('textbox', { name: 'Json' }).waitFor()
    await grid.page.keyboard.press('Control+Enter')
    expect(grid.writes()).toEqual([])
    await grid.shows('Json', ['{"b": 1,  "a": [1.50]}'])
  })

  test('takes every key from the first, is checked as one types, and is formatted without losing digits', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Json').click()
    await page.keyboard.type('{"n":12345678901234567890', { delay: 0 })
    const area = page.getByRole('textbox', { name: 'Json' })
    expect(await area.inputValue()).toBe('{"n":12345678901234567890')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').waitFor()
    expect(grid.writes()).toEqual([])
    await page.keyboard.type('}')
    await page.getByText('Valid JSON', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Format' }).click()
    expect(await area.inputValue()).toBe('{\n  "n": 12345678901234567890\n}')
    await page.keyboard.press('Control+Enter')
    await grid.shows('Json', ['{"b": 1,  "a": [1.50]}', '{ "n": 12345678901234567890 }'])
  })

  test('takes the keys typed while the editor is still loading', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const release = await holdScripts(page)
    await grid.cell(1, 'Json').click()
    await page.keyboard.type('{"n":\n[1,', { delay: 0 })
    const area = page.getByRole('textbox', { name: 'Json' })
    expect(await area.getAttribute('aria-busy')).toBe('true')
    release()
    await page.getByRole('button', { name: 'Format' }).waitFor()
    await page.keyboard.type('2]}')
    expect(await area.inputValue()).toBe('{"n":\n[1,2]}')
    await page.keyboard.press('Control+Enter')
    await grid.shows('Json', ['{"b": 1,  "a": [1.50]}', '{"n": [1,2]}'])
  })

  test('is edited as a tree', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Json').dblclick()
    await page.getByRole('button', { name: 'Tree' }).click()
    await page.getByLabel('Value', { exact: true }).first().fill('two words')
    await page.getByRole('button', { name: 'Add key' }).first().click()
    await page.getByLabel('Key', { exact: true }).last().fill('c')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+Enter')
    const text = await eventually(
      async () => (await grid.column('Json', 1))[0] ?? '',
      (now) => now.includes('"c"'),
    )
    expect(text).toBe('{ "b": "two words", "a": [ 1.50 ], "c": null }')
  })
})

describe('a place', () => {
  test('is typed in two inputs, or pasted whole into the first', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Place').click()
    await page.keyboard.type('-33.85', { delay: 0 })
    await page.keyboard.press('Tab')
    await page.keyboard.type('151.2', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.shows('Place', ['48.85; 2.35', '-33.85; 151.2'])
    await grid.cell(0, 'Place').dblclick()
    await page.keyboard.press('ControlOrMeta+a')
    await grid.paste(`48°51'N 2°21'E`)
    await page.keyboard.press('Enter')
    await grid.cell(1, 'Place').dblclick()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('91')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await grid.shows('Place', ['48.85; 2.35', '-33.85; 151.2'])
  })

  test('is typed with decimal commas as well, and as a pair in the first input', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Place').click()
    await page.keyboard.type('48,8584', { delay: 0 })
    expect(await page.getByLabel('Place: Latitude').inputValue()).toBe('48,8584')
    await page.keyboard.press('Tab')
    await page.keyboard.type('2,2945', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.shows('Place', ['48.85; 2.35', '48.8584; 2.2945'])
    await grid.cell(1, 'Place').click()
    await page.keyboard.press('Delete')
    await page.keyboard.type('-33.85, 151.2', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.shows('Place', ['48.85; 2.35', '-33.85; 151.2'])
    await grid.cell(1, 'Place').click()
    await page.keyboard.press('Delete')
    await page.keyboard.type('48,85', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await grid.shows('Place', ['48.85; 2.35', ''])
  })

  test('is where the browser says that one is', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.context.grantPermissions(['geolocation', 'clipboard-read', 'clipboard-write'])
    await grid.context.setGeolocation({ latitude: 52.520008, longitude: 13.404954 })
    await grid.cell(1, 'Place').click()
    await grid.page.keyboard.press('Enter')
    await grid.page.getByRole('button', { name: 'Use my location' }).click()
    await eventually(
      () => grid.page.getByLabel('Place: Latitude').inputValue(),
      (text) => text !== '',
    )
    await grid.page.keyboard.press('Enter')
    await grid.shows('Place', ['48.85; 2.35', '52.520008; 13.404954'])
  })
})
