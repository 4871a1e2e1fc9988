import { describe, expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { eventually, type GridPage, gridTests, restingBox, textOf } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Due', type: 'Date' as const },
  {
    title: 'Colour',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'red' }, { title: 'blue' }] },
  },
]

const ROWS: CellValue[][] = [
  ['cherry', 30, '2026-01-02', 'red'],
  ['تفاح', 10, '2026-01-03', 'blue'],
  ['banana', 20, '2026-01-04', 'red'],
]

async function openRtl(): Promise<GridPage> {
  const grid = await tests.open(FIELDS, ROWS)
  await grid.page.evaluate(() => {
    document.documentElement.dir = 'rtl'
    document.documentElement.lang = 'ar'
  })
  // The grid measures itself anew when its size changes, as it does with another language.
  await grid.page.setViewportSize({ width: 1270, height: 790 })
  await grid.page.waitForTimeout(100)
  return grid
}

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox()
  if (!box) throw new Error('It is not on the screen')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

const active = (grid: GridPage) =>
  grid.page.evaluate(() => {
    const cell = document.querySelector<HTMLElement>('[role="gridcell"][aria-selected="true"]')
    return cell ? `${cell.dataset.row},${cell.dataset.column}` : ''
  })

describe('the grid from right to left', () => {
  test('has its first column at the right, and arrows and Tab go along', async () => {
    const grid = await openRtl()
    const { page } = grid
    const [title, stock] = [await boxOf(grid.header('Title')), await boxOf(grid.header('Stock'))]
    expect(Math.abs(stock.right - title.x)).toBeLessThan(2)
    await grid.cell(0, 'Title').click()
    const press = async (key: string, wanted: string) => {
      await page.keyboard.press(key)
      expect(
        await eventually(
          () => active(grid),
          (now) => now === wanted,
        ),
      ).toBe(wanted)
    }
    await press('ArrowLeft', '0,1')
    await press('ArrowRight', '0,0')
    await press('Tab', '0,1')
    await press('Shift+Tab', '0,0')
    await press('Control+ArrowLeft', '0,3')
    await press('Home', '0,0')
  })

  test('shows the examples of field types as they are written', async () => {
    const grid = await openRtl()
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('Alt+c')
    await grid.page.getByTestId('field-type').click()
    const example = grid.page.getByTestId('type-option').getByText('+49 30 901820')
    expect(await example.evaluate((element) => getComputedStyle(element).direction)).toBe('ltr')
  })

  test('opens each editor and its list at the cell', async () => {
    const grid = await openRtl()
    const { page } = grid
    for (const title of ['Title', 'Stock', 'Due', 'Colour']) {
      await grid.cell(1, title).dblclick()
      const [editor, cell] = [await boxOf(page.getByTestId('cell-editor')), await boxOf(grid.cell(1, title))]
      expect(Math.abs(editor.right - cell.right)).toBeLessThan(2)
      expect(Math.abs(editor.y - cell.y)).toBeLessThan(2)
      if (title === 'Colour') {
        const list = await restingBox(page.getByRole('listbox'))
        expect(Math.abs(list.x + list.width - cell.right)).toBeLessThan(12)
      }
      await page.keyboard.press('Escape')
    }
    // A number lies at the end of its cell, which is the left, while it is edited too.
    await grid.cell(0, 'Stock').dblclick()
    const align = await page
      .getByTestId('cell-editor')
      .locator('input')
      .evaluate((input) => getComputedStyle(input).textAlign)
    expect(align).toBe('left')
  })

  test('resizes towards the left and fills down by the handle at the left', async () => {
    const grid = await openRtl()
    const { page } = grid
    const before = await boxOf(grid.header('Stock'))
    const edge = await boxOf(grid.header('Stock').getByTestId('resize'))
    await page.mouse.move(edge.x + 4, edge.y + 10)
    await page.mouse.down()
    await page.mouse.move(edge.x - 46, edge.y + 10, { steps: 4 })
    await page.mouse.up()
    expect((await boxOf(grid.header('Stock'))).width).toBe(before.width + 50)
    await grid.cell(0, 'Stock').click()
    const handle = await boxOf(page.getByTestId('fill-handle'))
    expect(Math.abs(handle.x - (await boxOf(grid.cell(0, 'Stock'))).x)).toBeLessThan(8)
    const target = await boxOf(grid.cell(2, 'Stock'))
    await page.mouse.move(handle.x + 4, handle.y + 4)
    await page.mouse.down()
    await page.mouse.move(handle.x + 4, target.y + 10, { steps: 4 })
    await page.mouse.up()
    const wanted = ['30', '30', '30']
    const column = () => grid.column('Stock', 3)
    expect(await eventually(column, (texts) => texts.join() === wanted.join())).toEqual(wanted)
  })
})

describe('searching on a phone', () => {
  test('has all its controls on the screen', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.setViewportSize({ width: 390, height: 700 })
    await page.getByTestId('search-button').click()
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('red')
    const count = page.getByTestId('search-count')
    expect(
      await eventually(
        async () => ((await count.count()) > 0 ? textOf(count) : ''),
        (text) => text === '1 of 2',
      ),
    ).toBe('1 of 2')
    for (const name of ['Previous match', 'Next match', 'Show matching records only', 'Close search']) {
      const box = await boxOf(page.getByRole('button', { name }))
      expect(box.x).toBeGreaterThanOrEqual(0)
      expect(box.right).toBeLessThanOrEqual(390)
    }
  })
})
