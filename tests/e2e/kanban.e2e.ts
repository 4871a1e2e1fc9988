import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf, untilDraggable } from './grid-page.ts'
import { createKanbanTable, drag, openKanban } from './kanban-page.ts'

const tests = gridTests()
const api = () => tests.app().trpc(tests.owner().token)

/** What the server says of a value that it does not take. */
const REFUSAL = { code: 'UNPROCESSABLE_CONTENT', httpStatus: 422, appCode: 'INVALID_VALUE_FOR_FIELD' }

const CARDS = ['a Todo 3', 'b Todo 4', 'c Done 5', 'd', 'e Todo', 'f Done']

describe('cards of a kanban', () => {
  test('select all of a stack by Ctrl+A also on a keyboard that has no Latin A', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    await kanban.card('b').focus()
    const keys = { key: 'ф', code: 'KeyA', ctrlKey: true, metaKey: false, bubbles: true, cancelable: true }
    await kanban.card('b').dispatchEvent('keydown', keys)
    await kanban.page.getByTestId('bulk-bar').getByText('3 records selected').waitFor()
  })

  test('are dragged within and between stacks, which another person sees as it happens', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const mine = await openKanban(tests, table)
    const theirs = await openKanban(tests, table, await createMember(tests.app(), table.baseId, 'editor'))
    expect([await mine.titles(null), await mine.titles('Todo'), await mine.titles('Done')]).toEqual([
      'd',
      'a b e',
      'c f',
    ])
    await drag(mine.page, mine.card('b'), mine.card('f'))
    // Shown before anybody has answered, and sent once.
    expect([await mine.titles('Todo'), await mine.titles('Done')]).toEqual(['a e', 'c b f'])
    expect([await mine.count('Todo'), await mine.count('Done')]).toEqual(['2', '3'])
    expect(await theirs.until('Done', 'c b f')).toBe('c b f')
    expect(await theirs.titles('Todo')).toBe('a e')
    await mine.untilWritten(['records.write'])
    // Both move at once: neither undoes the other.
    await Promise.all([
      drag(mine.page, mine.card('e'), mine.card('a')),
      drag(theirs.page, theirs.card('d'), theirs.card('c')),
    ])
    for (const page of [mine, theirs]) {
      expect(await page.until('Todo', 'e a')).toBe('e a')
      expect(await page.until('Done', 'd c b f')).toBe('d c b f')
      expect(await page.count(null)).toBe('0')
    }
    // One step back for each drop, own ones alone.
    await mine.page.keyboard.press('ControlOrMeta+z')
    expect(await mine.until('Todo', 'a e')).toBe('a e')
    await mine.page.keyboard.press('ControlOrMeta+z')
    expect(await mine.until('Todo', 'a b e')).toBe('a b e')
    expect(await theirs.until('Done', 'd c f')).toBe('d c f')
  })

  test('keep the place they are given on the kanban, which no other view shows', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const order = async () => {
      const fieldIds = [table.fieldId('Title')]
      const query = { tableId: table.tableId, fieldIds, sorts: [], limit: 10, offset: 0 }
      return (await api().records.list.query({ query })).rows.flat().join(' ')
    }
    const kanban = await openKanban(tests, table)
    const theirs = await openKanban(tests, table, await createMember(tests.app(), table.baseId, 'editor'))
    const { page } = kanban
    // Between two cards of another stack, and within a stack.
    await drag(page, kanban.card('e'), kanban.card('f'))
    expect(await kanban.titles('Done')).toBe('c e f')
    await drag(page, kanban.card('b'), kanban.card('a'))
    expect(await kanban.titles('Todo')).toBe('b a')
    expect(await theirs.until('Todo', 'b a')).toBe('b a')
    expect(await theirs.until('Done', 'c e f')).toBe('c e f')
    await eventually(
      async () => kanban.writes().length,
      (n) => n === 2,
    )
    await page.reload()
    expect(await kanban.until('Todo', 'b a')).toBe('b a')
    expect(await kanban.until('Done', 'c e f')).toBe('c e f')
    expect(await order()).toBe('a b c d e f')
    // A card that is added above another stands there, wherever the table has that one.
    await kanban.card('a').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Insert above' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('x')
    await page.getByRole('button', { name: 'Add record' }).click()
    expect(await kanban.until('Todo', 'b x a')).toBe('b x a')
    await page.locator('body').press('ControlOrMeta+z')
    expect(await kanban.until('Todo', 'b a')).toBe('b a')
    await page.locator('body').press('ControlOrMeta+z')
    expect(await kanban.until('Todo', 'a b')).toBe('a b')
    expect(await theirs.until('Todo', 'a b')).toBe('a b')
    await page.getByText('Undone: Move record b in view Board').waitFor()
    await page.locator('body').press('ControlOrMeta+z')
    expect(await kanban.until('Todo', 'a b e')).toBe('a b e')
    expect(await kanban.titles('Done')).toBe('c f')
    await page.locator('body').press('ControlOrMeta+Shift+z')
    expect(await kanban.until('Done', 'c e f')).toBe('c e f')
    // A locked kanban takes cards into other stacks, and says why it takes no order.
    await api().views.update.mutate({ viewId: table.viewId, patch: { lock: 'locked' } })
    await page.reload()
    await kanban.card('a').waitFor()
    kanban.calls.length = 0
    await drag(page, kanban.card('b'), kanban.card('a'))
    expect(await kanban.titles('Todo')).toBe('a b')
    await drag(page, kanban.card('b'), kanban.card('c'))
    expect(await kanban.until('Done', 'b c e f')).toBe('b c e f')
    await kanban.untilWritten(['records.write'])
  })

  test('go back with a message when the server refuses, and wait while it cannot be reached', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    await untilDraggable(page)
    await page.context().setOffline(true)
    await drag(page, kanban.card('a'), kanban.card('f'))
    await page.getByTestId('queue-bar').waitFor()
    expect(await kanban.titles('Done')).toBe('c a f')
    await page.context().setOffline(false)
    await page.getByTestId('queue-bar').waitFor({ state: 'detached' })
    expect(await kanban.titles('Done')).toBe('c a f')
    // What the browser says of the lost connection is no fault of the page.
    kanban.problems.length = 0
    await page.route('**/trpc/records.write*', (route) =>
      route.fulfill({
        status: 422,
        json: { error: { message: 'The month is closed', code: -32_000, data: REFUSAL } },
      }),
    )
    await drag(page, kanban.card('c'), kanban.card('b'))
    await page.getByText('No changes saved. The month is closed').waitFor()
    expect(await kanban.until('Done', 'c a f')).toBe('c a f')
    expect(await kanban.titles('Todo')).toBe('b e')
    await eventually(
      async () => kanban.problems.length,
      (n) => n > 0,
    )
    kanban.problems.length = 0
  })

  test('move, open and go by the keyboard alone, and say where they went', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
    // The address names the kanban: the tree shows where it stands.
    await page.locator('a[aria-current="page"]', { hasText: 'Board' }).waitFor()
    await kanban.stack(null).getByTestId('stack-head').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('b')
    await page.keyboard.press('ControlOrMeta+ArrowUp')
    expect(await kanban.titles('Todo')).toBe('b a e')
    expect(await focused()).toBe('b')
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    expect([await kanban.titles('Todo'), await kanban.titles('Doing')]).toEqual(['a e', 'b'])
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    expect(await kanban.until('Done', 'b c f')).toBe('b c f')
    expect(await textOf(page.getByTestId('kanban-announcement'))).toBe('b: Done, 1 of 3 cards')
    expect(await focused()).toBe('b')
    // Undo takes it back to its stack, the keyboard with it. A screen reader focuses cards by itself.
    await page.keyboard.press('ControlOrMeta+z')
    expect(await kanban.until('Doing', 'b')).toBe('b')
    expect(await eventually(focused, (now) => now === 'b')).toBe('b')
    await kanban.card('c').focus()
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('f')
    await kanban.card('b').focus()
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    expect(await kanban.until('Done', 'b c f')).toBe('b c f')
    await page.keyboard.press('Enter')
    await page.getByTestId('record-panel').getByRole('heading', { name: 'b' }).waitFor()
    // Loaded anew, the address is as it was, and the keyboard comes back to the same card.
    const address = page.url()
    await page.reload()
    await page.getByTestId('record-panel').getByRole('heading', { name: 'b' }).waitFor()
    await kanban.card('b').waitFor()
    expect(page.url()).toBe(address)
    await page.keyboard.press('Escape')
    await page.getByTestId('record-panel').waitFor({ state: 'detached' })
    expect(await eventually(focused, (now) => now === 'b')).toBe('b')
    await page.keyboard.press('Delete')
    expect(await kanban.until('Done', 'c f')).toBe('c f')
    expect(await eventually(focused, (now) => now === 'c')).toBe('c')
    await page.getByText('1 record deleted').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await kanban.until('Done', 'b c f')).toBe('b c f')
  })

  test('are named one after the other in their stack, chosen together, and moved by their menu', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    await kanban.stack('Doing').getByTestId('stack-add').click()
    await page.keyboard.type('x')
    await page.keyboard.press('Enter')
    await page.keyboard.type('y')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect(await kanban.until('Doing', 'x y')).toBe('x y')
    await eventually(
      async () => kanban.writes().length,
      (n) => n === 2,
    )
    await kanban.untilWritten(['records.write', 'records.write'])
    await kanban.card('x').click({ modifiers: ['ControlOrMeta'] })
    await kanban.card('y').click({ modifiers: ['Shift'] })
    await page.getByText('2 records selected').waitFor()
    await drag(page, kanban.card('x'), kanban.card('e'), 'below')
    expect(await kanban.titles('Todo')).toBe('a b e x y')
    await eventually(
      async () => kanban.writes().length,
      (n) => n === 3,
    )
    await page.keyboard.press('Escape')
    await page.getByTestId('bulk-bar').waitFor({ state: 'detached' })
    await kanban.card('y').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Move to…' }).click()
    await page.getByRole('menuitemradio', { name: 'Done' }).click()
    expect(await kanban.until('Done', 'y c f')).toBe('y c f')
    // Alt+R names a card of the stack that one is in.
    await page.keyboard.press('Alt+r')
    await page.getByRole('textbox', { name: 'New record in Done' }).waitFor()
  })

  test('are added without a value under “Uncategorised”, also where the field has a default', async () => {
    const table = await createKanbanTable(tests, CARDS)
    const fieldId = table.fieldId('Status')
    await api().schema.updateField.mutate({ fieldId, patch: { defaultValue: 'Todo' } })
    const kanban = await openKanban(tests, table)
    const { page } = kanban
    await kanban.stack(null).getByTestId('stack-add').click()
    await page.keyboard.type('x')
    await page.keyboard.press('Enter')
    await kanban.until(null, 'd x')
    await kanban.card('d').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Insert below' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('y')
    await page.getByRole('button', { name: 'Add record' }).click()
    const { tableId } = table
    const filter = { fieldId, operator: 'blank', value: null }
    const fieldIds = [table.fieldId('Title')]
    const titles = async () =>
      (await api().records.list.query({ query: { tableId, fieldIds, filter, limit: 9, offset: 0 } })).rows
    expect((await eventually(titles, (now) => now.length === 3)).flat().toSorted()).toEqual(['d', 'x', 'y'])
    expect(await kanban.titles('Todo')).toBe('a b e')
  })

  test('cannot be put into an order against a sort, which places them', async () => {
    const table = await createKanbanTable(tests, ['c Todo', 'a Todo', 'd Done', 'b Done'])
    await api().views.update.mutate({
      viewId: table.viewId,
      patch: { sorts: [{ fieldId: table.fieldId('Title'), direction: 'asc' }] },
    })
    const kanban = await openKanban(tests, table)
    await drag(kanban.page, kanban.card('a'), kanban.card('c'), 'below')
    expect(await kanban.titles('Todo')).toBe('a c')
    expect(kanban.writes()).toEqual([])
    await drag(kanban.page, kanban.card('b'), kanban.card('a'))
    expect(await kanban.titles('Todo')).toBe('a b c')
    expect(await kanban.titles('Done')).toBe('d')
  })
})
