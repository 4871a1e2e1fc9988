import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { eventually, type GridPage, gridTests, recordCount, textOf } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Notes', type: 'LongText' as const },
]

/** 900 records, of which every 300th says "needle" in its notes. */
const ROWS = Array.from({ length: 900 }, (_, at): CellValue[] => [
  `r${at}`,
  at,
  at % 300 === 250 ? 'a Needle here' : 'hay',
])

const active = (grid: GridPage) =>
  grid.page.evaluate(() => {
    const cell = document.querySelector<HTMLElement>('[role="gridcell"][aria-selected="true"]')
    return cell ? `${cell.dataset.row},${cell.dataset.column}` : ''
  })

const untilActive = (grid: GridPage, wanted: string) =>
  eventually(
    () => active(grid),
    (now) => now === wanted,
  )

const marks = (grid: GridPage) => grid.page.evaluate(() => CSS.highlights.get('grid-search')?.size ?? 0)

describe('searching a view', () => {
  test('shows only what is found, and marks it', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('needle')
    const count = page.getByTestId('search-count')
    await count.waitFor()
    expect(
      await eventually(
        () => textOf(count),
        (text) => text === '3 of 900',
      ),
    ).toBe('3 of 900')
    expect(
      await eventually(
        () => marks(grid),
        (number) => number === 3,
      ),
    ).toBe(3)
    await page.keyboard.press('Escape')
    expect(
      await eventually(
        () => marks(grid),
        (number) => number === 0,
      ),
    ).toBe(0)
    expect(
      await eventually(
        () => recordCount(grid),
        (text) => text === '900 records',
      ),
    ).toBe('900 records')
  })

  test('goes from hit to hit among all records, round and back', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('needle')
    expect(await untilActive(grid, '250,2')).toBe('250,2')
    expect(await textOf(page.getByTestId('search-count'))).toBe('1 of 3')
    expect(await recordCount(grid)).toBe('900 records')
    await page.keyboard.press('Enter')
    expect(await untilActive(grid, '550,2')).toBe('550,2')
    await page.keyboard.press('Enter')
    expect(await untilActive(grid, '850,2')).toBe('850,2')
    await page.keyboard.press('Enter')
    expect(await untilActive(grid, '250,2')).toBe('250,2')
    await page.keyboard.press('Shift+Enter')
    expect(await untilActive(grid, '850,2')).toBe('850,2')
    // The mark follows once the text of the row has arrived.
    expect(
      await eventually(
        () => marks(grid),
        (number) => number === 1,
      ),
    ).toBe(1)
    // Leaving the search stays at the hit.
    await page.keyboard.press('Escape')
    await page.keyboard.type('found', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.showsIn(850, 'Notes', 'found')
  })

  test('goes to the first hit before all are counted, and ends the count for another text', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await page.route(/records\.count/, async (route) => {
      if (decodeURIComponent(route.request().url()).includes('"needle"')) {
        asked.resolve()
        await released.promise
      }
      await route.continue().catch(() => {})
    })
    const ended: string[] = []
    page.on('requestfailed', (request) => ended.push(decodeURIComponent(request.url())))
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('needle')
    expect(await untilActive(grid, '250,2')).toBe('250,2')
    await asked.promise
    await page.keyboard.type(' here')
    await eventually(
      () => textOf(page.getByTestId('search-count')),
      (text) => text === '1 of 3',
    )
    expect(ended.some((url) => url.includes('records.count') && url.includes('"needle"'))).toBe(true)
    released.resolve()
    await page.getByLabel('Search this view').fill('no such text')
    expect(
      await eventually(
        () => textOf(page.getByTestId('search-count')),
        (text) => text === '0 of 0',
      ),
    ).toBe('0 of 0')
  })

  test('changes between the two ways with the text kept', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('needle')
    await eventually(
      () => recordCount(grid),
      (text) => text === '3 records',
    )
    await page.getByTestId('search-filters').click()
    expect(await untilActive(grid, '250,2')).toBe('250,2')
    expect(await recordCount(grid)).toBe('900 records')
  })

  test('stays open with its text beside an open filter', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('needle')
    expect(await untilActive(grid, '250,2')).toBe('250,2')
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add condition' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add condition' }).waitFor({ state: 'detached' })
    expect(await page.getByLabel('Search this view').inputValue()).toBe('needle')
    expect(await textOf(page.getByTestId('search-count'))).toBe('1 of 3')
  })
})

describe('the menu of several rows', () => {
  test('gives all of them one value, as one step back', async () => {
    const grid = await tests.open(FIELDS, ROWS.slice(0, 4))
    const { page } = grid
    await grid.cell(0, 'Notes').click()
    await grid.cell(2, 'Notes').click({ modifiers: ['Shift'] })
    await grid.cell(1, 'Notes').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Edit 3 records' }).click()
    const popover = page.getByRole('dialog', { name: 'Edit field of selected records' })
    await popover.getByRole('combobox', { name: 'Field' }).selectOption({ label: 'Stock' })
    await popover.getByLabel('Stock', { exact: true }).fill('7')
    await popover.getByRole('button', { name: 'Change 3 records' }).click()
    const wanted = ['7', '7', '7', '3']
    const column = () => grid.column('Stock', 4)
    expect(await eventually(column, (texts) => texts.join() === wanted.join())).toEqual(wanted)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await eventually(column, (texts) => texts.join() === '0,1,2,3')).toEqual(['0', '1', '2', '3'])
  })

  test('writes nothing for a text that the field refuses', async () => {
    const grid = await tests.open(FIELDS, ROWS.slice(0, 4))
    const { page } = grid
    await grid.cell(0, 'Notes').click()
    await grid.cell(2, 'Notes').click({ modifiers: ['Shift'] })
    await grid.cell(1, 'Notes').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Edit 3 records' }).click()
    const popover = page.getByRole('dialog', { name: 'Edit field of selected records' })
    await popover.getByRole('combobox', { name: 'Field' }).selectOption({ label: 'Stock' })
    await popover.getByLabel('Stock', { exact: true }).fill('seven')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await popover.getByText('“seven” is not a number').waitFor()
    expect(await popover.getByLabel('Stock', { exact: true }).inputValue()).toBe('seven')
    expect(grid.writes()).toEqual([])
    await grid.shows('Stock', ['0', '1', '2', '3'])
  })
})

describe('closing what lies over the grid', () => {
  test('gives the keys back to it', async () => {
    const grid = await tests.open(FIELDS, ROWS.slice(0, 4))
    const { page } = grid
    const hasKeys = () => page.getByTestId('grid-keys').evaluate((keys) => keys === document.activeElement)
    await grid.cell(1, 'Title').click()
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menu').waitFor()
    await page.keyboard.press('Escape')
    expect(await eventually(hasKeys, Boolean)).toBe(true)
    await grid.header('Stock').dblclick()
    await page.getByRole('textbox', { name: 'Field name' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await eventually(hasKeys, Boolean)).toBe(true)
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    expect(await eventually(hasKeys, Boolean)).toBe(true)
  })
})

describe('the command palette', () => {
  test('searches records by one character where that is a word', async () => {
    const titles = ['山の家', 'かき', 'ネコ', '강', 'жук']
    const { page } = await tests.open(
      FIELDS.slice(0, 1),
      titles.map((title) => [title]),
    )
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('records.search') && asked.push(request.url()))
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('dialog')
    for (const [character, title] of [
      ['山', '山の家'],
      ['き', 'かき'],
      ['ネ', 'ネコ'],
      ['강', '강'],
    ] as const) {
      await palette.getByRole('combobox').fill(character)
      await palette.getByRole('option').filter({ hasText: title }).waitFor()
    }
    const before = asked.length
    await palette.getByRole('combobox').fill('ж')
    await palette.getByText('No results for').waitFor()
    expect(asked.length).toBe(before)
  })

  test('offers no records of the text before while it searches', async () => {
    const { page } = await tests.open(FIELDS.slice(0, 1), [['Smith'], ['Smithers']])
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('dialog')
    const options = palette.getByRole('option').filter({ hasText: 'Smith' })
    await palette.getByRole('combobox').fill('smith')
    await options.nth(1).waitFor()
    const released = Promise.withResolvers<void>()
    await page.route(/records\.search/, async (route) => {
      await released.promise
      await route.continue()
    })
    await palette.getByRole('combobox').fill('smithe')
    await options.nth(1).waitFor({ state: 'detached' })
    expect(await options.count()).toBe(1)
    await palette.getByRole('combobox').fill('no record is called so')
    await page.keyboard.press('Enter')
    await options.first().waitFor({ state: 'detached' })
    expect(await palette.isVisible()).toBe(true)
    expect(page.url()).not.toContain('rowId')
    released.resolve()
    await palette.getByText('No results for').waitFor()
  })
})
