import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf } from './grid-page.ts'
import { createKanbanTable, drag, openKanban } from './kanban-page.ts'
import { createLibrary } from './link-tables.ts'

const tests = gridTests()

const CARDS = ['a Todo 3', 'b Todo 4', 'c Done 5', 'd', 'e Todo', 'f Done']

describe('stacks of a kanban', () => {
  test('are arranged by an editor for their own visit, while filters are saved', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const theirs = await openKanban(tests, table, await createMember(tests.app(), table.baseId, 'editor'))
    const { page } = theirs
    await theirs.stack(null).getByTestId('stack-head').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Hide stack' }).click()
    expect(await theirs.stacks()).toEqual(['Todo', 'Doing', 'Done'])
    const kept = page.getByTestId('kept-changes')
    await kept.getByRole('button', { name: 'Discard' }).waitFor()
    expect(await kept.getByRole('button', { name: 'Save for everyone' }).count()).toBe(0)
    const stored = async () => {
      const { views } = await tests
        .app()
        .trpc(tests.owner().token)
        .schema.table.query({ tableId: table.tableId })
      return views.find(({ id }) => id === table.viewId)
    }
    await page.getByTestId('sort-button').click()
    await page.getByRole('button', { name: 'Add sort' }).click()
    const sorts = await eventually(
      async () => (await stored())?.sorts,
      (all) => all?.length === 1,
    )
    expect(sorts).toHaveLength(1)
    expect((await stored())?.options).toMatchObject({ stacks: [] })
    await theirs.untilWritten(['views.update'])
    await page.keyboard.press('Escape')
    await kept.getByRole('button', { name: 'Discard' }).click()
    expect(await theirs.stacks()).toEqual(['Uncategorised', 'Todo', 'Doing', 'Done'])
  })

  test('are arranged, collapsed, hidden and summed up, for everyone and for the next visit', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Todo', 'Doing', 'Done'])
    // Released over itself, it stays.
    await drag(page, kanban.stack('Todo').getByTestId('stack-head'), kanban.stack('Todo'))
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Todo', 'Doing', 'Done'])
    await drag(page, kanban.stack('Done').getByTestId('stack-head'), kanban.stack('Todo'))
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Done', 'Todo', 'Doing'])
    await kanban.stack('Doing').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Collapse stack' }).click()
    await kanban.stack(null).getByTestId('stack-head').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Hide stack' }).click()
    await page.getByTestId('stacks-button').click()
    await page.getByLabel('Stack summary').selectOption({ label: 'Points' })
    await page.keyboard.press('Escape')
    const summary = kanban.stack('Todo').getByTestId('stack-summary')
    expect(
      await eventually(
        () => textOf(summary),
        (text) => text.endsWith('7'),
      ),
    ).toBe('Points: Sum 7')
    await eventually(
      async () => kanban.writes().length,
      (n) => n === 4,
    )
    await page.reload()
    await summary.waitFor()
    expect(await kanban.stacks()).toEqual(['Done', 'Todo', 'Doing'])
    expect(await kanban.stack('Doing').getByTestId('kanban-card').count()).toBe(0)
    // The sum follows what is moved; a collapsed stack takes cards too.
    await drag(page, kanban.card('a'), kanban.stack('Doing').getByTestId('stack-head'))
    expect(await kanban.count('Doing')).toBe('1')
    expect(
      await eventually(
        () => textOf(summary),
        (text) => text.endsWith('4'),
      ),
    ).toBe('Points: Sum 4')
    await page.getByTestId('stacks-button').click()
    await page.getByRole('button', { name: 'Show Uncategorised' }).click()
    await page.getByRole('button', { name: 'Expand all' }).click()
    expect(await kanban.until('Doing', 'a')).toBe('a')
    expect(await kanban.until(null, 'd')).toBe('d')
  })

  test('are made, renamed and deleted with their option; deleting says what it does and can be undone', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const kanban = await openKanban(tests, table)
    const { page } = kanban
    await page.getByRole('button', { name: 'Add stack' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Parked')
    await page.keyboard.press('Enter')
    await kanban.stack('Parked').waitFor()
    await drag(page, kanban.stack('Done').getByTestId('stack-head'), kanban.stack('Todo'))
    await kanban.stack('Todo').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Edit name and colour' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Later ⏳')
    await page.getByLabel('Colour 6').click()
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await kanban.until('Later ⏳', 'a b e')).toBe('a b e')
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Done', 'Later ⏳', 'Doing', 'Parked'])
    await kanban.stack('Later ⏳').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Delete option' }).click()
    await page.getByText('Option “Later ⏳” deleted. 3 records have no Status now').waitFor()
    expect(await kanban.until(null, 'a b d e')).toBe('a b d e')
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await kanban.until('Later ⏳', 'a b e')).toBe('a b e')
    expect(await kanban.until(null, 'd')).toBe('d')
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Done', 'Later ⏳', 'Doing', 'Parked'])
    // Records that a search hides are counted, too.
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('b')
    expect(await kanban.until('Later ⏳', 'b')).toBe('b')
    await kanban.stack('Later ⏳').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Delete option' }).click()
    await page.getByText('Option “Later ⏳” deleted. 3 records have no Status now').waitFor()
  })

  test('come from a field that is chosen, or made for it', async () => {
    const table = await createKanbanTable(tests, CARDS, { stackFieldId: null })
    const kanban = await openKanban(tests, table)
    const { page } = kanban
    await page.getByText('Choose a field to stack by').waitFor()
    await page.getByRole('button', { name: 'Add status field' }).click()
    expect(await kanban.until(null, 'a b c d e f')).toBe('a b c d e f')
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'To do', 'In progress', 'Done'])
    await page.getByTestId('stacks-button').click()
    await page.getByRole('combobox', { name: 'Stacked by' }).selectOption({ label: 'Status' })
    expect(await kanban.until('Todo', 'a b e')).toBe('a b e')
  })

  test('of a long table are drawn in part, and found by search', async () => {
    const many = Array.from({ length: 400 }, (_, at) => `r${at} ${at % 2 === 0 ? 'Todo' : 'Done'}`)
    const kanban = await openKanban(tests, await createKanbanTable(tests, many))
    const { page } = kanban
    expect(await kanban.count('Todo')).toBe('200')
    expect(await page.getByTestId('kanban-card').count()).toBeLessThan(80)
    const list = kanban.stack('Todo').locator('[data-cards]')
    // Again and again, as cards that come into sight turn out to be taller or smaller than was assumed.
    await eventually(
      async () => {
        await list.evaluate((element) => {
          element.scrollTop = element.scrollHeight
        })
        return kanban.card('r398').isVisible()
      },
      (isVisible) => isVisible,
    )
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('r39')
    expect(await kanban.until('Todo', 'r390 r392 r394 r396 r398')).toContain('r390')
    await page.getByTestId('search-input').fill('nothing like it')
    await page.getByText('No matching records').waitFor()
    // From hit to hit among all cards, each brought in sight where it stands.
    await page.getByTestId('search-filters').click()
    await page.getByTestId('search-input').fill('r251')
    await kanban.card('r251').waitFor()
    expect(await kanban.count('Done')).toBe('200')
  })

  test('stay hidden while a search finds nothing in them and another one is collapsed', async () => {
    const { books, link, addLink } = await createLibrary(tests, ['Ann', 'Bob', 'Cid'], ['x', 'y', 'z'])
    const author = await addLink('bt', 'Author')
    for (const id of [1, 2, 3]) await link(author, id, [id])
    const { tableId, schema } = books
    const api = tests.app().trpc(tests.owner().token)
    const { id: viewId } = await api.views.create.mutate({
      tableId,
      title: 'Board',
      kind: 'kanban',
      options: { stackFieldId: author.id, stacks: [{ key: '1', isHidden: true }] },
    })
    const fieldId = (title: string) => schema.fields.find((field) => field.title === title)?.id ?? title
    const kanban = await openKanban(tests, { ...books, viewId, fieldId })
    const { page } = kanban
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Bob', 'Cid'])
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('z')
    await kanban.stack('2').waitFor({ state: 'detached' })
    await kanban.stack('3').getByTestId('stack-head').click()
    await page.getByRole('menuitem', { name: 'Collapse stack' }).click()
    const stored = async () =>
      (await api.schema.table.query({ tableId })).views.find(({ id }) => id === viewId)
    const view = await eventually(stored, (now) =>
      JSON.stringify(now?.options).includes('"isCollapsed":true'),
    )
    expect(view?.options).toMatchObject({
      stacks: [
        { key: '1', isHidden: true },
        { key: null, isHidden: false },
        { key: '3', isCollapsed: true },
      ],
    })
    await page.getByTestId('search-input').fill('')
    await kanban.stack('2').waitFor()
    expect(await kanban.stack('1').count()).toBe(0)
  })

  test('keep an option that somebody adds while a new one is being named', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const kanban = await openKanban(tests, table)
    const { page } = kanban
    await page.getByRole('button', { name: 'Add stack' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Parked')
    const api = tests.app().trpc(tests.owner().token)
    const fieldId = table.fieldId('Status')
    const known = table.schema.fields.find(({ id }) => id === fieldId)?.options.choices as object[]
    await api.schema.updateField.mutate({
      fieldId,
      patch: { options: { choices: [...known, { title: 'Review' }] } },
    })
    const rows = [{ id: 4, values: { [fieldId]: 'Review' } }]
    const operations = [{ kind: 'update' as const, tableId: table.tableId, rows }]
    await api.records.write.mutate({ change: { baseId: table.baseId, operations } })
    await kanban.stack('Review').waitFor()
    await page.keyboard.press('Enter')
    await kanban.stack('Parked').waitFor()
    expect(await kanban.until('Review', 'd')).toBe('d')
  })
})

describe('a kanban', () => {
  test('is only looked at by a viewer, and swiped stack by stack on a phone', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const kanban = await openKanban(tests, table, viewer)
    const { page } = kanban
    await drag(page, kanban.card('a'), kanban.card('c'))
    expect([await kanban.titles('Todo'), await kanban.titles('Done')]).toEqual(['a b e', 'c f'])
    expect(await page.getByTestId('stack-add').count()).toBe(0)
    expect(await page.getByRole('button', { name: /New record|Add stack/ }).count()).toBe(0)
    await kanban.stack('Todo').getByTestId('stack-head').click()
    const lines = await page.getByRole('menuitem').allTextContents()
    expect(lines.filter((line) => /New|Rename|Delete|Add/.test(line))).toEqual([])
    // A viewer arranges for this visit.
    await page.getByRole('menuitem', { name: 'Hide stack' }).click()
    await kanban.stack('Todo').waitFor({ state: 'detached' })
    expect(await kanban.stacks()).toEqual(['Uncategorised', 'Doing', 'Done'])
    expect(kanban.writes()).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    const widths = () =>
      page
        .getByTestId('kanban-stack')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)))
    expect(await eventually(widths, ([width = 0]) => width > 300 && width < 370)).toHaveLength(3)
    await page.getByTestId('kanban').evaluate((element) => {
      element.scrollLeft = 300
    })
    const start = () => kanban.stack('Doing').evaluate((one) => Math.round(one.getBoundingClientRect().left))
    expect(await eventually(start, (left) => left >= 0 && left <= 16)).toBeLessThan(17)
  })

  test('mirrors from right to left, keys and drops too', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    const left = (key: string) => kanban.stack(key).evaluate((one) => one.getBoundingClientRect().left)
    expect(await left('Todo')).toBeGreaterThan(await left('Doing'))
    await kanban.card('a').focus()
    await drag(page, kanban.card('a'), kanban.card('f'))
    expect(await kanban.titles('Done')).toBe('c a f')
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    expect(await kanban.until('Doing', 'a')).toBe('a')
  })
})
