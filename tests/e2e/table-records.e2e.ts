import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf, untilCount } from './grid-page.ts'

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

describe('a record that is added before the number of records is known', () => {
  /** Opens 500 records, of which only the first are read until their number is released, with a selected cell. */
  async function openUncounted() {
    const many = Array.from({ length: 500 }, (_, at) => [`r${at + 1}`, at, false, ''])
    const grid = await tests.open(FIELDS, many)
    const { page } = grid
    const counted = Promise.withResolvers<void>()
    await page.route(/records\.count/, async (route) => {
      await counted.promise
      await route.continue()
    })
    let pages = 0
    await page.route(/records\.list/, async (route) => {
      // The last page would tell the number as well.
      if (pages++ > 0) await counted.promise
      await route.continue()
    })
    await page.reload()
    await page.waitForSelector('[data-testid="row"][data-loaded]')
    await grid.cell(0, 'Title').click()
    await page.locator('[data-testid="active-cell"]').waitFor()
    return { grid, page, count: counted.resolve }
  }

  async function titleOf(record: number, address: string) {
    const { body } = await tests
      .app()
      .rest(tests.owner().token)
      .get(`/api/v2/tables/${new URL(address).hash.split('/')[3]}/records/${record}`)
    return body.Title
  }

  test.each(['the button', 'Alt+R', 'the last row'] as const)('comes once it is, by %s', async (how) => {
    const { grid, page, count } = await openUncounted()
    if (how === 'the button') await page.getByTestId('add-record').click()
    else if (how === 'Alt+R') await page.keyboard.press('Alt+r')
    else {
      await page.mouse.move(600, 400)
      await page.mouse.wheel(0, 10_000)
      await page.locator('[data-part="addRow"]').click()
    }
    await page.keyboard.type('pl')
    count()
    await untilCount(grid, '501 records')
    await page.keyboard.type('um')
    await page.keyboard.press('Enter')
    await grid.saved()
    expect(await titleOf(501, page.url())).toBe('plum')
  })

  test('does not come once one types into another cell or a search, which get what is typed', async () => {
    const { grid, page, count } = await openUncounted()
    await page.getByTestId('add-record').click()
    await grid.cell(1, 'Title').click()
    await page.keyboard.type('fig')
    await page.keyboard.press('Enter')
    await grid.showsIn(1, 'Title', 'fig')
    await page.getByTestId('add-record').click()
    const search = page.getByLabel('Search tables and views')
    await search.click()
    await page.keyboard.type('Task')
    expect(await search.inputValue()).toBe('Task')
    count()
    await untilCount(grid, '500 records')
    expect(await search.inputValue()).toBe('Task')
    expect(await titleOf(2, page.url())).toBe('fig')
  })

  test('does not come after Escape or a shortcut, whose box gets what is typed', async () => {
    const { grid, page, count } = await openUncounted()
    await page.keyboard.press('Alt+r')
    await page.keyboard.type('plum')
    await page.keyboard.press('Escape')
    await page.keyboard.type('fig')
    await page.keyboard.press('Enter')
    await grid.showsIn(0, 'Title', 'fig')
    await page.keyboard.press('Alt+r')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('shortcuts')
    await page.getByRole('option', { name: 'Keyboard shortcuts' }).waitFor()
    count()
    await untilCount(grid, '500 records')
    expect(await page.getByRole('combobox').inputValue()).toBe('shortcuts')
  })

  test('is given up after some seconds, with a message', async () => {
    const { grid, page, count } = await openUncounted()
    await page.keyboard.press('Alt+r')
    await page.getByText('The records are still being counted').waitFor()
    await page.keyboard.type('fig')
    await page.keyboard.press('Enter')
    await grid.showsIn(0, 'Title', 'fig')
    count()
    await untilCount(grid, '500 records')
  })
})

describe('an open record', () => {
  test('is edited, walked through, linked to and closed by keyboard, and tells its history', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.waitFor()
    expect(page.url()).toContain('rowId=1')
    const title = panel.getByLabel('Title', { exact: true })
    await title.fill('cherries')
    await page.keyboard.press('Tab')
    await eventually(
      () => grid.column('Title', 1),
      (texts) => texts[0] === 'cherries',
    )
    await page.keyboard.press('Alt+ArrowDown')
    await page.getByRole('heading', { name: 'apple' }).waitFor()
    expect(page.url()).toContain('rowId=2')
    await page.keyboard.press('Alt+ArrowUp')
    await page.getByRole('heading', { name: 'cherries' }).waitFor()
    await panel.getByRole('tab', { name: 'History' }).click()
    const entry = panel.getByTestId('history-entry').first()
    expect(await textOf(entry)).toContain('cherry')
    await entry.getByRole('button', { name: 'Restore previous value of Title' }).click()
    await eventually(
      () => grid.column('Title', 1),
      (texts) => texts[0] === 'cherry',
    )
    // It moves into a window and stays there for the next; what was typed is kept however the window is left.
    const hasKeys = () => page.getByTestId('grid-keys').evaluate((keys) => keys === document.activeElement)
    await panel.getByRole('button', { name: 'Open in a window' }).click()
    const dialog = page.getByRole('dialog', { name: 'cherry' })
    await dialog.getByRole('tab', { name: 'Fields' }).click()
    await dialog.getByLabel('Title', { exact: true }).fill('plum')
    await page.mouse.click(5, 5)
    await panel.waitFor({ state: 'detached' })
    await eventually(
      () => grid.column('Title', 1),
      (texts) => texts[0] === 'plum',
    )
    await eventually(hasKeys, (has) => has)
    await page.keyboard.press('Space')
    await page.getByRole('dialog', { name: 'plum' }).waitFor()
    await page.keyboard.press('Alt+ArrowDown')
    await page.getByRole('dialog', { name: 'apple' }).waitFor()
    await page.getByRole('button', { name: 'Open as side panel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await panel.waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(await hasKeys()).toBe(true)
    await grid.untilWritten(['records.write', 'records.write', 'records.write'])
  })

  test('lists what others do to it while its history is open, and what is restored there', async () => {
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('tab', { name: 'History' }).click()
    const entries = panel.getByTestId('history-entry')
    await entries.first().waitFor()
    const titleId = table.schema.fields.find(({ title }) => title === 'Title')?.id ?? ''
    const plum = { id: 1, values: { [titleId]: 'plum' } }
    await tests
      .app()
      .trpc(tests.owner().token)
      .records.write.mutate({
        change: {
          baseId: table.baseId,
          operations: [{ kind: 'update', tableId: table.tableId, rows: [plum] }],
        },
      })
    await grid.shows('Title', ['plum', 'apple', 'banana', 'avocado'])
    await eventually(
      () => entries.count(),
      (count) => count === 2,
    )
    expect(await textOf(entries.first())).toContain('plum')
    await entries.first().getByRole('button', { name: 'Restore previous value of Title' }).click()
    await eventually(
      () => entries.count(),
      (count) => count === 3,
    )
    expect(await textOf(entries.first())).toMatch(/plum.*cherry/)
  })
})

describe('a number of an open record', () => {
  test('stands there as the field writes it, and is edited as it is', async () => {
    const grid = await tests.open(
      [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Price', type: 'Currency', options: { code: 'USD', precision: 2, locale: 'en-US' } },
      ],
      [['cherry', 1234.5]],
    )
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const price = page.getByTestId('record-panel').getByLabel('Price', { exact: true })
    await price.waitFor()
    const resting = page.getByTestId('record-panel').getByText('$1,234.50')
    expect(await resting.isVisible()).toBe(true)
    await price.focus()
    expect(await price.inputValue()).toBe('1234.5')
    expect(await resting.isVisible()).toBe(false)
    await page.keyboard.press('Tab')
    expect(await resting.isVisible()).toBe(true)
    expect(grid.writes()).toEqual([])
    await price.fill('99')
    await page.keyboard.press('Tab')
    await page.getByTestId('record-panel').getByText('$99.00').waitFor()
    await grid.untilWritten(['records.write'])
  })
})

describe('an open record beside the grid', () => {
  test('follows the selection without taking the keys away from it', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    await page.getByRole('heading', { name: 'cherry' }).waitFor()
    await grid.cell(1, 'Title').click()
    await page.getByRole('heading', { name: 'apple' }).waitFor()
    await page.keyboard.type('pear', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'banana' }).waitFor()
    await grid.shows('Title', ['cherry', 'pear'])
  })

  test('is brought in sight when its link is opened', async () => {
    const many = Array.from({ length: 600 }, (_, at): CellValue[] => [`r${at}`, at, false, ''])
    const grid = await tests.open(FIELDS, many)
    const { page } = grid
    await page.evaluate(() => {
      location.hash += '?rowId=500'
    })
    await page.reload()
    await page.getByRole('heading', { name: 'r499' }).waitFor()
    await grid.showsIn(499, 'Title', 'r499')
  })
})

/** A field with two options. */
const STATUS_FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  {
    title: 'Status',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Open' }, { title: 'Done' }] },
  },
]

describe('fields', () => {
  test('are added, converted after a preview, and deleted with a way back, by keyboard alone', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Alt+c')
    await page.getByTestId('field-editor').waitFor()
    await page.keyboard.type('Price')
    await page.keyboard.press('Tab')
    await page.keyboard.type('curr')
    await page.keyboard.press('Enter')
    await page.getByTestId('field-type').getByText('Currency').waitFor()
    await page.keyboard.press('ControlOrMeta+Enter')
    await eventually(grid.titles, (titles) => titles.length === 5)
    expect(await grid.titles()).toEqual([...FIELDS.map(({ title }) => title), 'Price'])
    await grid.untilWritten(['schema.createField'])
    await grid.header('Notes').dblclick()
    await page.getByTestId('field-type').click()
    await page.keyboard.type('number')
    await page.keyboard.press('Enter')
    await page.getByText('4 values can’t be fully converted and will lose data.').waitFor()
    await page.keyboard.press('Escape')
    await grid.shows('Notes', ['red'])
    await grid.header('Notes').hover()
    await grid.header('Notes').getByTestId('header-menu').click()
    await page.getByRole('menuitem', { name: 'Delete field' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete field' }).click()
    await eventually(grid.titles, (titles) => titles.length === 4)
    await page.getByRole('button', { name: 'Undo' }).click()
    await eventually(grid.titles, (titles) => titles.length === 5)
    await eventually(
      () => grid.column('Notes', 1),
      (texts) => texts[0] === 'red',
    )
    await grid.shows('Notes', ['red', 'green', 'yellow', 'green'])
  })

  test('ask before a removed option empties records, and say how many', async () => {
    const choices = [{ title: 'Open' }, { title: 'Done' }, { title: 'Never' }]
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Status', type: 'SingleSelect' as const, options: { choices } },
    ]
    const grid = await tests.open(fields, [
      ['a', 'Open'],
      ['b', 'Done'],
      ['c', 'Done'],
    ])
    const { page } = grid
    const editor = page.getByTestId('field-editor')
    const remove = (at: number) =>
      page.getByTestId('choice-line').nth(at).getByRole('button', { name: 'Remove option' }).click()
    // No record has it.
    await grid.header('Status').dblclick()
    await remove(2)
    await page.keyboard.press('ControlOrMeta+Enter')
    await editor.waitFor({ state: 'detached' })
    await grid.untilWritten(['schema.updateField'])
    await grid.header('Status').dblclick()
    await remove(1)
    await page.keyboard.press('ControlOrMeta+Enter')
    const question = page.getByRole('dialog', { name: 'Remove the option “Done”?' })
    await question.getByText('2 records lose a value of “Status”').waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await grid.untilWritten(['schema.updateField'])
    await grid.shows('Status', ['Open', 'Done', 'Done'])
    await editor.getByRole('button', { name: 'Save field' }).click()
    await question.getByRole('button', { name: 'Remove', exact: true }).click()
    await grid.shows('Status', ['Open', '', ''])
    await editor.waitFor({ state: 'detached' })
    await page.keyboard.press('ControlOrMeta+z')
    await grid.shows('Status', ['Open', 'Done', 'Done'])
  })

  test('take the keys that follow an option that is added or removed, also while the page is busy', async () => {
    const choices = [{ title: 'Open' }, { title: 'Done' }]
    const grid = await tests.open([
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Status', type: 'SingleSelect' as const, options: { choices } },
    ])
    const { page } = grid
    await grid.header('Status').dblclick()
    const lines = page.getByTestId('choice-line')
    await lines.nth(1).getByRole('textbox').click()
    // Timers come late on a busy page.
    await page.evaluate(() => {
      const { setTimeout: later } = window
      window.setTimeout = ((run: TimerHandler, ms = 0, ...given: unknown[]) =>
        later(run, ms + 400, ...given)) as typeof window.setTimeout
      document.addEventListener(
        'keydown',
        ({ key, ctrlKey, metaKey }) => {
          if (key === 'Enter' && (ctrlKey || metaKey)) window.setTimeout = later
        },
        { capture: true },
      )
    })
    await page.keyboard.press('Enter')
    await page.keyboard.type('Late')
    await lines.nth(0).getByRole('button', { name: 'Remove option' }).click()
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByTestId('field-editor').waitFor({ state: 'detached' })
    await grid.header('Status').dblclick()
    const titles = () => Promise.all([0, 1].map((at) => lines.nth(at).getByRole('textbox').inputValue()))
    expect(await titles()).toEqual(['Done', 'Late'])
  })

  test('ask before a removed option of a long list empties records', async () => {
    const choices = Array.from({ length: 120 }, (_, at) => ({ title: `Option ${at}` }))
    const grid = await tests.open(
      [
        { title: 'Title', type: 'SingleLineText' as const },
        { title: 'Status', type: 'SingleSelect' as const, options: { choices } },
      ],
      [['a', 'Option 0']],
    )
    const { page } = grid
    await grid.header('Status').dblclick()
    await page.getByTestId('choice-line').first().getByRole('button', { name: 'Remove option' }).click()
    await page.keyboard.press('ControlOrMeta+Enter')
    const question = page.getByRole('dialog', { name: 'Remove the option “Option 0”?' })
    await question.getByRole('button', { name: 'Remove', exact: true }).click()
    await grid.shows('Status', [''])
  })

  test('ask before an option is removed whose name another one gets', async () => {
    const grid = await tests.open(STATUS_FIELDS, [
      ['a', 'Open'],
      ['b', 'Done'],
    ])
    const { page } = grid
    await grid.header('Status').dblclick()
    const lines = page.getByTestId('choice-line')
    await lines.nth(1).getByRole('button', { name: 'Remove option' }).click()
    await lines.nth(0).getByLabel('Option name').fill('Done')
    await page.keyboard.press('ControlOrMeta+Enter')
    const question = page.getByRole('dialog', { name: 'Remove the option “Done”?' })
    await question.getByText('1 record loses a value of “Status”').waitFor()
    expect(grid.writes()).toEqual([])
  })

  test('keep their draft when the question before removed options is left by Back', async () => {
    const grid = await tests.open(STATUS_FIELDS, [['a', 'Done']])
    const { page } = grid
    // An entry of the history to go back from.
    await page.evaluate(() => {
      location.hash += '?rowId=1'
    })
    await page.getByTestId('record-panel').waitFor()
    await grid.header('Status').dblclick()
    await page.getByLabel('Field name').fill('State')
    await page.getByTestId('choice-line').nth(1).getByRole('button', { name: 'Remove option' }).click()
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('dialog', { name: 'Remove the option “Done”?' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Field name').inputValue()).toBe('State')
    expect(grid.writes()).toEqual([])
  })
})

describe('without a connection', () => {
  test('edits are shown, counted, and sent in order once it is back', async () => {
    const grid = await tests.open(FIELDS, rows)
    const { page, context } = grid
    await grid.cell(0, 'Title').click()
    await context.setOffline(true)
    await page.keyboard.type('first', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.keyboard.type('second', { delay: 0 })
    await page.keyboard.press('Enter')
    const bar = page.getByTestId('queue-bar')
    await bar.getByText('2 unsaved changes.').waitFor()
    await grid.shows('Title', ['first', 'second'])
    await context.setOffline(false)
    await bar.waitFor({ state: 'detached' })
    await grid.saved()
    await page.reload()
    const column = () => grid.column('Title', 2)
    await grid.cell(0, 'Title').waitFor()
    expect(await eventually(column, (texts) => texts.join() === 'first,second')).toEqual(['first', 'second'])
    // The browser notes each request that found no network.
    grid.problems.length = 0
  })
})

describe('what a role may not do', () => {
  test('has no control: a viewer reads, filters for the visit, and writes nothing', async () => {
    const table = await tests.createTable(FIELDS, rows)
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const grid = await tests.openTable(table, viewer)
    const { page } = grid
    expect(await page.getByTestId('add-record').count()).toBe(0)
    expect(await page.getByTestId('add-field').count()).toBe(0)
    grid.calls.length = 0
    await grid.cell(0, 'Title').click()
    await page.keyboard.type('x')
    await page.keyboard.press('Delete')
    await grid.shows('Title', ['cherry'])
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.getByLabel('Value').fill('apple')
    await untilCount(grid, '1 record')
    expect(await page.getByText('Only you see this filter').count()).toBe(1)
    expect(grid.writes()).toEqual([])
  })
})
