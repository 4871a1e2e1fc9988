import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { dragAtOnce } from './drag-at-once.ts'
import {
  eventually,
  gridTests,
  recordCount,
  textOf,
  untilCount,
  untilDraggable,
  untilInput,
} from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Done', type: 'Checkbox' as const },
  { title: 'Notes', type: 'LongText' as const },
]

const rows: CellValue[][] = [
  ['cherry', 30, true, 'red'],
  ['apple', 10, false, 'green'],
  ['banana', 20, true, 'yellow'],
  ['avocado', 5, false, 'green'],
]

describe('the toolbar of a table', () => {
  test('filters as one types, sorts in words of the type, and keeps both for the next visit', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.getByLabel('Value').fill('a')
    await page.getByRole('button', { name: 'Add condition' }).click()
    const second = page.getByTestId('filter-line').nth(1)
    await second.getByLabel('Field').selectOption({ label: 'Stock' })
    await second.getByLabel('Operator').selectOption({ label: '<' })
    await second.getByLabel('Value').fill('20')
    await untilCount(grid, '2 records')
    await page.keyboard.press('Escape')
    await page.getByTestId('sort-button').click()
    await page.getByRole('button', { name: 'Add sort' }).click()
    await page.getByLabel('Direction').selectOption({ label: 'Z → A' })
    await page.keyboard.press('Escape')
    await eventually(
      () => grid.column('Title', 2),
      (titles) => titles[0] === 'avocado',
    )
    await grid.shows('Title', ['avocado', 'apple'])
    expect(await textOf(page.getByTestId('filter-button'))).toContain('2')
    await grid.saved()
    await page.reload()
    await untilCount(grid, '2 records')
    await grid.shows('Title', ['avocado', 'apple'])
  })

  test('a condition without a value has no effect; a group joins by another word', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add group' }).click()
    const lines = page.getByTestId('filter-line')
    expect(await recordCount(grid)).toBe('4 records')
    await lines.nth(1).getByLabel('Value').fill('cherry')
    await lines.nth(0).getByRole('button', { name: 'Add condition' }).first().click()
    await lines.nth(2).getByLabel('Value').fill('apple')
    await untilCount(grid, '2 records')
    await grid.shows('Title', ['cherry', 'apple'])
  })

  test('searches all fields or one, and says how many of how many', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('green', { delay: 0 })
    await untilCount(grid, '2 records')
    expect(await textOf(page.getByTestId('search-count'))).toBe('2 of 4')
    await page.getByLabel('Search in').selectOption({ label: 'Title' })
    await page.getByText('No matching records').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await untilCount(grid, '4 records')
  })

  test('hides, moves, sizes and freezes columns for good, and undo takes each back', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    let answers = 0
    page.on('requestfinished', (request) => {
      if (/views\.(arrange|update)/.test(request.url())) answers++
    })
    await page.getByTestId('fields-button').click()
    const box = (title: string) => page.getByRole('dialog').getByRole('checkbox', { name: title })
    await box('Done').uncheck()
    await box('Notes').press('Alt+ArrowUp')
    await box('Notes').press('Alt+ArrowUp')
    await page.keyboard.press('Escape')
    expect(await grid.titles()).toEqual(['Title', 'Notes', 'Stock'])
    const edge = await grid.header('Stock').getByTestId('resize').boundingBox()
    if (!edge) throw new Error('no edge to drag')
    await page.mouse.move(edge.x + edge.width / 2, edge.y + 8)
    await page.mouse.down()
    await page.mouse.move(edge.x + edge.width / 2 + 90, edge.y + 8, { steps: 4 })
    await page.mouse.up()
    await grid.header('Notes').hover()
    await grid.header('Notes').getByTestId('header-menu').click()
    await page.getByRole('menuitem', { name: 'Freeze up to this field' }).click()
    await eventually(
      async () => grid.writes().length,
      (count) => count === 5,
    )
    await grid.untilWritten([
      'views.arrange',
      'views.arrange',
      'views.arrange',
      'views.arrange',
      'views.update',
    ])
    await eventually(
      async () => answers,
      (count) => count === 5,
    )
    await page.reload()
    await untilInput(page)
    expect(await grid.titles()).toEqual(['Title', 'Notes', 'Stock'])
    expect(Math.round((await grid.header('Stock').boundingBox())?.width ?? 0)).toBe(290)
    await grid.cell(0, 'Title').click()
    for (let step = 0; step < 5; step++) {
      const undone = page.waitForResponse(/records\.undo/)
      await page.keyboard.press('ControlOrMeta+z')
      await undone
    }
    await eventually(grid.titles, (titles) => titles.length === 4)
    expect(await grid.titles()).toEqual(['Title', 'Stock', 'Done', 'Notes'])
    expect(Math.round((await grid.header('Stock').boundingBox())?.width ?? 0)).toBe(200)
  })

  test('moves a field that is dragged so quickly that nothing was drawn between', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await page.getByTestId('fields-button').click()
    const item = (title: string) => page.getByTestId('fields-menu-item').filter({ hasText: title })
    await item('Notes').hover()
    await untilDraggable(page)
    const gripOf = async (title: string) => {
      const box = await item(title).locator('svg').first().boundingBox()
      if (!box) throw new Error('there is nothing to drag')
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    }
    await dragAtOnce(page, { from: await gripOf('Notes'), to: await gripOf('Stock'), by: 'pointer' })
    await page.keyboard.press('Escape')
    expect(await eventually(grid.titles, (titles) => titles[1] === 'Notes')).toEqual([
      'Title',
      'Notes',
      'Stock',
      'Done',
    ])
  })

  test('a summary under a column follows edits', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await page.locator('[data-testid="summary"]').nth(1).click()
    await page.getByRole('menuitemradio', { name: 'Sum', exact: true }).click()
    const sum = () => textOf(page.locator('[data-testid="summary"]').nth(1))
    await eventually(sum, (text) => text.includes('65'))
    await grid.cell(0, 'Stock').click()
    await page.keyboard.type('100', { delay: 0 })
    await page.keyboard.press('Enter')
    expect(await eventually(sum, (text) => text.includes('135'))).toContain('135')
  })

  test('a summary has as many decimals as its cells', async () => {
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Rate', type: 'Decimal' as const, options: { precision: 4 } },
      { title: 'Share', type: 'Percent' as const, options: { precision: 3 } },
    ]
    const grid = await tests.open(fields, [
      ['a', 0.0004, 0.001],
      ['b', 0.0008, 0.003],
    ])
    for (const [at, sum] of [
      [1, '0.0012'],
      [2, '0.004%'],
    ] as const) {
      const summary = grid.page.locator('[data-testid="summary"]').nth(at)
      await summary.click()
      await grid.page.getByRole('menuitemradio', { name: 'Sum', exact: true }).click()
      const shown = await eventually(
        () => textOf(summary),
        (text) => text.includes(sum),
      )
      expect(shown).toContain(sum)
    }
  })
})

describe('the grid for a screen reader', () => {
  test('says how many rows and columns there are, and how they are sorted', async () => {
    const many = Array.from({ length: 1000 }, (_, at): CellValue[] => [`r${at}`, at, false, ''])
    const grid = await tests.open(FIELDS, many)
    const { page } = grid
    const role = page.getByRole('grid')
    expect(
      await eventually(
        async () => role.getAttribute('aria-rowcount'),
        (count) => count === '1001',
      ),
    ).toBe('1001')
    expect(await role.getAttribute('aria-colcount')).toBe('5')
    await grid.header('Stock').hover()
    await grid.header('Stock').getByTestId('header-menu').click()
    await page.getByRole('menuitem', { name: 'Sort 9 → 1' }).click()
    await eventually(
      () => grid.column('Title', 1),
      (texts) => texts[0] === 'r999',
    )
    expect(await grid.header('Stock').getAttribute('aria-sort')).toBe('descending')
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ControlOrMeta+End')
    await grid.showsIn(999, 'Title', 'r0')
  })
})
