import { describe, expect, test } from 'bun:test'
import { eventually, type GridPage, gridTests } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Price', type: 'Currency' as const },
  { title: 'Stars', type: 'Rating' as const },
  { title: 'Done', type: 'Checkbox' as const },
]
const ROWS = [
  ['apple', 5, 5, false],
  ['banana', 20, 3, false],
  ['cherry', 30, 1, false],
]

const values = async (grid: GridPage, title: string): Promise<string[]> => {
  await grid.saved()
  return grid.column(title, 3)
}

/** Where the cell stands that keys go to. */
const activeAt = async ({ page }: GridPage): Promise<string> => {
  const cell = page.locator('[role="gridcell"][aria-selected="true"]').first()
  return `${await cell.getAttribute('data-row')},${await cell.getAttribute('data-column')}`
}

const untilActive = async (grid: GridPage, wanted: string) =>
  expect(
    await eventually(
      () => activeAt(grid),
      (now) => now === wanted,
    ),
  ).toBe(wanted)

describe('a text with line breaks', () => {
  const texts = [
    { title: 'Title', type: 'SingleLineText' as const },
    { title: 'Notes', type: 'LongText' as const },
    { title: 'Json', type: 'JSON' as const },
  ]
  const rows = [['Main St 1\nBerlin', 'one\r\ntwo', '{\r\n"a": 1}'], ['other']]

  test('stays as it is when its editor is opened and left, in the grid and in a record', async () => {
    const grid = await tests.open(texts, rows)
    const { page } = grid
    const editor = page.getByTestId('cell-editor')
    for (const { title } of texts) {
      await grid.cell(0, title).dblclick()
      await editor.waitFor()
      await grid.cell(1, 'Title').click()
      await editor.waitFor({ state: 'detached' })
    }
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    const title = panel.getByRole('textbox', { name: 'Title' })
    await title.click()
    expect(await title.inputValue()).toBe('Main St 1 Berlin')
    await panel.getByRole('textbox', { name: 'Notes' }).click()
    await panel.getByRole('textbox', { name: 'Json' }).click()
    await title.click()
    await grid.saved()
    expect(grid.writes()).toEqual([])
    // Without a draft, Escape closes the record.
    await panel.getByRole('textbox', { name: 'Notes' }).click()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  test('keeps its words apart when it is edited in one line', async () => {
    const grid = await tests.open(texts, rows)
    await grid.cell(0, 'Title').dblclick()
    await grid.page.keyboard.type('!', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    await grid.shows('Title', ['Main St 1 Berlin!', 'other'])
  })
})

describe('the current day', () => {
  test('of a field with its own time zone is inserted by Ctrl+;', async () => {
    // At least a day apart.
    const [timezoneId, timeZone] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago']
    const fields = [FIELDS[0]!, { title: 'Due', type: 'DateTime' as const, options: { timeZone } }]
    const grid = await tests.openTable(await tests.createTable(fields, [['a']]), tests.owner(), {
      timezoneId,
    })
    const today = () => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date())
    await grid.cell(0, 'Due').click()
    const before = today()
    await grid.page.keyboard.press('Control+;')
    const [shown = ''] = await eventually(
      () => grid.column('Due', 1),
      ([text]) => text !== '',
    )
    expect([`${before} 00:00`, `${today()} 00:00`]).toContain(shown)
  })

  test('is inserted by Ctrl+; also on a keyboard that has no semicolon', async () => {
    const fields = [FIELDS[0]!, { title: 'Due', type: 'Date' as const }]
    const grid = await tests.openTable(await tests.createTable(fields, [['a']]))
    await grid.cell(0, 'Due').click()
    const keys = {
      key: 'ж',
      code: 'Semicolon',
      ctrlKey: true,
      metaKey: false,
      bubbles: true,
      cancelable: true,
    }
    await grid.page.locator(':focus').dispatchEvent('keydown', keys)
    const [shown = ''] = await eventually(
      () => grid.column('Due', 1),
      ([text]) => text !== '',
    )
    expect(shown).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })
})

describe('names in a sentence', () => {
  test('are joined in the language of the app, not in that of the browser', async () => {
    const required = { type: 'SingleLineText' as const, required: true }
    const fields = ['Title', 'Code', 'Size'].map((title) => ({ title, ...required }))
    const table = await tests.createTable(fields, [['a', 'b', 'c']])
    const { page } = await tests.openTable(table, tests.owner(), { locale: 'de-DE' })
    await page.getByTestId('add-record').click()
    await page.keyboard.type('x', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'Code and Size are required' }).waitFor()
  })
})

describe('a value that a field cannot hold', () => {
  test('is left out of a paste and listed, as long as the list is wanted', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Price').click()
    await grid.paste('€ 99\t9\n$ 7\t4\n')
    await page.getByText('2 values were invalid and not pasted').waitFor()
    expect(await values(grid, 'Price')).toEqual(['$5.00', '$7.00', '$30.00'])
    expect((await values(grid, 'Stars')).map((stars) => stars.length)).toEqual([5, 4, 1])
    for (const _ of [1, 2]) {
      await page.getByRole('button', { name: 'Show' }).click()
      const dialog = page.getByRole('dialog', { name: 'Invalid values' })
      await dialog.getByText('€ 99').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))
      expect(await eventually(focused, (id) => id === 'grid-keys')).toBe('grid-keys')
    }
    await page.getByTestId('left-out').getByRole('button', { name: 'Dismiss' }).click()
    await page.getByTestId('left-out').waitFor({ state: 'detached' })
  })

  test('is refused in the editor, with the text kept', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Price').click()
    await grid.page.keyboard.type('€ 99', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    const editor = grid.page.getByTestId('cell-editor')
    expect(await editor.getByRole('alert').textContent()).toContain('€ 99')
    expect(await editor.locator('input').inputValue()).toBe('€ 99')
    await grid.page.keyboard.press('Escape')
    await grid.cell(1, 'Stars').click()
    await grid.page.keyboard.press('9')
    expect(grid.writes()).toEqual([])
    expect((await values(grid, 'Stars'))[1]?.length).toBe(3)
  })

  test('is left out of a fill to the side and listed', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(1, 'Price').click()
    await grid.cell(2, 'Stars').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('ControlOrMeta+r')
    await grid.page.getByText('2 values were invalid and not pasted').waitFor()
    expect(grid.writes()).toEqual([])
  })
})

describe('a fill to the side', () => {
  test('reads days as their field writes them', async () => {
    const day = { title: 'Day', type: 'Date' as const, options: { format: 'DD/MM/YYYY' as const } }
    const at = { title: 'At', type: 'DateTime' as const, options: { timeZone: 'UTC' } }
    const grid = await tests.open([day, at], [['2025-04-03']])
    await grid.cell(0, 'Day').click()
    await grid.cell(0, 'At').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('ControlOrMeta+r')
    await grid.shows('At', ['2025-04-03 00:00'])
  })
})

describe('a click', () => {
  test('on a star selects the cell first, and rates from then on', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const stars = grid.cell(0, 'Stars').locator('[data-interactive]')
    const star = async (at: number) => {
      const box = await stars.boundingBox()
      if (!box) throw new Error('no stars')
      await grid.page.mouse.click(box.x + (box.width / 5) * (at - 0.5), box.y + box.height / 2)
    }
    await star(1)
    await untilActive(grid, '0,2')
    expect(grid.writes()).toEqual([])
    await star(2)
    await grid.saved()
    expect((await values(grid, 'Stars'))[0]?.length).toBe(2)
    await grid.cell(2, 'Title').click()
    await grid.cell(1, 'Done').getByRole('checkbox').click()
    await grid.saved()
    expect(await grid.cell(1, 'Done').getByRole('checkbox').getAttribute('aria-checked')).toBe('true')
  })
})

describe('Tab and Enter', () => {
  test('fill a row from where the Tabs began, and go on in the next one', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Price').click()
    await page.keyboard.type('1', { delay: 0 })
    await page.keyboard.press('Tab')
    await page.keyboard.press('4')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.type('2', { delay: 0 })
    await page.keyboard.press('Enter')
    await untilActive(grid, '1,1')
    await page.keyboard.type('8', { delay: 0 })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.type('plum', { delay: 0 })
    await page.keyboard.press('Enter')
    await untilActive(grid, '2,1')
    // A cell that one goes to by other ways begins anew.
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.type('x', { delay: 0 })
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.type('9', { delay: 0 })
    await page.keyboard.press('Enter')
    await untilActive(grid, '2,1')
    expect(await values(grid, 'Price')).toEqual(['$2.00', '$9.00', '$30.00'])
    expect(await values(grid, 'Title')).toEqual(['apple', 'plum', 'x'])
  })

  test('on the last row stay, and Ctrl+Enter begins a new one where the Tabs began', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(2, 'Title').click()
    await page.keyboard.type('pear', { delay: 0 })
    await page.keyboard.press('Tab')
    await page.keyboard.type('3', { delay: 0 })
    await page.keyboard.press('Enter')
    await untilActive(grid, '2,1')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ControlOrMeta+Enter')
    await untilActive(grid, '3,0')
  })
})
