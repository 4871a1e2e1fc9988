import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf } from './grid-page.ts'
import { createBoardTable, drag, openBoard } from './kanban-page.ts'

const tests = gridTests()

const CARDS = ['a Todo 3', 'b Todo 4', 'c Done 5', 'd', 'e Todo', 'f Done']

describe('stacks of a board', () => {
  test('are arranged, collapsed, hidden and summed up, for everyone and for the next visit', async () => {
    const board = await openBoard(tests, await createBoardTable(tests, CARDS))
    const { page } = board
    expect(await board.stacks()).toEqual(['Uncategorised', 'Todo', 'Doing', 'Done'])
    await drag(page, board.stack('Done').getByTestId('stack-head'), board.stack('Todo'))
    expect(await board.stacks()).toEqual(['Uncategorised', 'Done', 'Todo', 'Doing'])
    await board.stack('Doing').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Collapse stack' }).click()
    await board.stack(null).getByTestId('stack-head').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Hide stack' }).click()
    await page.getByTestId('stacks-button').click()
    await page.getByLabel('Stack summary').selectOption({ label: 'Points' })
    await page.keyboard.press('Escape')
    const summary = board.stack('Todo').getByTestId('stack-summary')
    expect(
      await eventually(
        () => textOf(summary),
        (text) => text.endsWith('7'),
      ),
    ).toBe('Points: Sum 7')
    await eventually(
      async () => board.writes().length,
      (n) => n === 4,
    )
    await page.reload()
    await summary.waitFor()
    expect(await board.stacks()).toEqual(['Done', 'Todo', 'Doing'])
    expect(await board.stack('Doing').getByTestId('kanban-card').count()).toBe(0)
    // The sum follows what is moved; a collapsed stack takes cards too.
    await drag(page, board.card('a'), board.stack('Doing').getByTestId('stack-head'))
    expect(await board.count('Doing')).toBe('1')
    expect(
      await eventually(
        () => textOf(summary),
        (text) => text.endsWith('4'),
      ),
    ).toBe('Points: Sum 4')
    await page.getByTestId('stacks-button').click()
    await page.getByRole('button', { name: 'Show Uncategorised' }).click()
    await page.getByRole('button', { name: 'Expand all' }).click()
    expect(await board.until('Doing', 'a')).toBe('a')
    expect(await board.until(null, 'd')).toBe('d')
  })

  test('are made, renamed and deleted with their option; deleting says what it does and can be undone', async () => {
    const table = await createBoardTable(tests, CARDS)
    const board = await openBoard(tests, table)
    const { page } = board
    await page.getByRole('button', { name: 'Add stack' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Parked')
    await page.keyboard.press('Enter')
    await board.stack('Parked').waitFor()
    await drag(page, board.stack('Done').getByTestId('stack-head'), board.stack('Todo'))
    await board.stack('Todo').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Edit name and colour' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Later ⏳')
    await page.getByLabel('Colour 6').click()
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await board.until('Later ⏳', 'a b e')).toBe('a b e')
    expect(await board.stacks()).toEqual(['Uncategorised', 'Done', 'Later ⏳', 'Doing', 'Parked'])
    await board.stack('Later ⏳').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Delete option' }).click()
    await page.getByText('Option "Later ⏳" deleted. 3 records have no Status now').waitFor()
    expect(await board.until(null, 'a b d e')).toBe('a b d e')
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await board.until('Later ⏳', 'a b e')).toBe('a b e')
    expect(await board.until(null, 'd')).toBe('d')
    expect(await board.stacks()).toEqual(['Uncategorised', 'Done', 'Later ⏳', 'Doing', 'Parked'])
  })

  test('come from a field that is chosen, or made for it', async () => {
    const table = await createBoardTable(tests, CARDS, { stackFieldId: null })
    const board = await openBoard(tests, table)
    const { page } = board
    await page.getByText('Choose a field to stack by').waitFor()
    await page.getByRole('button', { name: 'Add status field' }).click()
    expect(await board.until(null, 'a b c d e f')).toBe('a b c d e f')
    expect(await board.stacks()).toEqual(['Uncategorised', 'To do', 'In progress', 'Done'])
    await page.getByTestId('stacks-button').click()
    await page.getByRole('combobox', { name: 'Stacked by' }).selectOption({ label: 'Status' })
    expect(await board.until('Todo', 'a b e')).toBe('a b e')
  })

  test('of a long table are drawn in part, and found by search', async () => {
    const many = Array.from({ length: 400 }, (_, at) => `r${at} ${at % 2 === 0 ? 'Todo' : 'Done'}`)
    const board = await openBoard(tests, await createBoardTable(tests, many))
    const { page } = board
    expect(await board.count('Todo')).toBe('200')
    expect(await page.getByTestId('kanban-card').count()).toBeLessThan(80)
    const list = board.stack('Todo').locator('[data-cards]')
    await list.evaluate((element) => {
      element.scrollTop = element.scrollHeight
    })
    await board.card('r398').waitFor()
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('r39')
    expect(await board.until('Todo', 'r390 r392 r394 r396 r398')).toContain('r390')
    await page.getByTestId('search-input').fill('nothing like it')
    await page.getByText('No matching records').waitFor()
    // From hit to hit among all cards, each brought in sight where it stands.
    await page.getByTestId('search-filters').click()
    await page.getByTestId('search-input').fill('r251')
    await board.card('r251').waitFor()
    expect(await board.count('Done')).toBe('200')
  })
})

describe('a board', () => {
  test('is only looked at by a viewer, and swiped stack by stack on a phone', async () => {
    const table = await createBoardTable(tests, CARDS)
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const board = await openBoard(tests, table, viewer)
    const { page } = board
    await drag(page, board.card('a'), board.card('c'))
    expect([await board.titles('Todo'), await board.titles('Done')]).toEqual(['a b e', 'c f'])
    expect(await page.getByTestId('stack-add').count()).toBe(0)
    expect(await page.getByRole('button', { name: /New record|Add stack/ }).count()).toBe(0)
    await board.stack('Todo').getByTestId('stack-head').click()
    const lines = await page.getByRole('menuitem').allTextContents()
    expect(lines.filter((line) => /New|Rename|Delete|Add/.test(line))).toEqual([])
    // A viewer arranges for this visit.
    await page.getByRole('menuitem', { name: 'Hide stack' }).click()
    await board.stack('Todo').waitFor({ state: 'detached' })
    expect(await board.stacks()).toEqual(['Uncategorised', 'Doing', 'Done'])
    expect(board.writes()).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    const widths = () =>
      page
        .getByTestId('kanban-stack')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)))
    expect(await eventually(widths, ([width = 0]) => width > 300 && width < 370)).toHaveLength(3)
    await page.getByTestId('kanban-board').evaluate((element) => {
      element.scrollLeft = 300
    })
    const start = () => board.stack('Doing').evaluate((one) => Math.round(one.getBoundingClientRect().left))
    expect(await eventually(start, (left) => left >= 0 && left <= 16)).toBeLessThan(17)
  })

  test('mirrors from right to left, keys and drops too', async () => {
    const board = await openBoard(tests, await createBoardTable(tests, CARDS))
    const { page } = board
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    const left = (key: string) => board.stack(key).evaluate((one) => one.getBoundingClientRect().left)
    expect(await left('Todo')).toBeGreaterThan(await left('Doing'))
    await board.card('a').focus()
    await drag(page, board.card('a'), board.card('f'))
    expect(await board.titles('Done')).toBe('c a f')
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    expect(await board.until('Doing', 'a')).toBe('a')
  })
})
