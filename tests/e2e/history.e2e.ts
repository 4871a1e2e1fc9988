import { describe, expect, test } from 'bun:test'
import { MAX_TRASH_ITEMS } from '../../src/core/trash.ts'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, type OpenTable, untilCount } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Qty', type: 'Number' as const },
]
const items = (count: number) => Array.from({ length: count }, (_, at) => [`Item ${at + 1}`, at + 1])

/** A second table of the same base, with one record. */
async function secondTable({ baseId }: OpenTable): Promise<OpenTable> {
  const api = tests.app().trpc(tests.owner().token)
  const schema = await api.schema.createTable.mutate({ baseId, title: 'big', fields: FIELDS })
  const tableId = schema.table.id
  const title = schema.fields.find((field) => field.title === 'Title')?.id ?? ''
  const operations = [{ kind: 'insert' as const, tableId, rows: [{ values: { [title]: 'untouched' } }] }]
  await api.records.write.mutate({ change: { baseId, operations } })
  return { baseId, tableId, schema }
}

const undoKey = (grid: GridPage) => grid.page.keyboard.press('ControlOrMeta+z')
const toast = (grid: GridPage, text: string) => grid.page.getByText(text).first().waitFor()
const go = (grid: GridPage, path: string) =>
  grid.page.evaluate((hash) => {
    location.hash = hash
  }, path)
const qtyOf = async ({ tableId, schema }: OpenTable, id: number) => {
  const api = tests.app().trpc(tests.owner().token)
  const { values } = await api.records.get.query({ tableId, recordId: id })
  return values[schema.fields.find(({ title }) => title === 'Qty')?.id ?? '']
}

describe('the undo key', () => {
  test('stays with the table on screen, names what it undoes, and two presses undo two actions', async () => {
    const weather = await tests.createTable(FIELDS, items(3))
    const big = await secondTable(weather)
    const grid = await tests.openTable(weather)
    for (const [row, qty] of [
      [0, '77'],
      [1, '88'],
    ] as const) {
      await grid.cell(row, 'Qty').click()
      await grid.page.keyboard.type(qty)
      await grid.page.keyboard.press('Enter')
    }
    await grid.saved()
    const api = tests.app().trpc(tests.owner().token)
    const qty = big.schema.fields.find(({ title }) => title === 'Qty')?.id ?? ''
    await api.records.write.mutate({
      change: {
        baseId: big.baseId,
        operations: [{ kind: 'update', tableId: big.tableId, rows: [{ id: 1, values: { [qty]: 4242 } }] }],
      },
    })
    await grid.cell(0, 'Title').click()
    await undoKey(grid)
    await undoKey(grid)
    await toast(grid, 'Undone: Qty of Item 1: 1 → 77')
    await grid.shows('Qty', ['1', '2', '3'])
    expect(await qtyOf(big, 1)).toBe(4242)
    expect(await grid.page.getByRole('dialog').count()).toBe(0)
  })

  test('names and confirms what weighs more: many records, and a deleted field', async () => {
    const table = await tests.createTable(FIELDS, items(150))
    const api = tests.app().trpc(tests.owner().token)
    const grid = await tests.openTable(table)
    await undoKey(grid)
    const question = grid.page.getByRole('dialog', { name: 'Undo “150 new records in Tasks”?' })
    await question.getByText('150 records move to the trash.').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await untilCount(grid, '150 records')
    await api.schema.deleteField.mutate({
      fieldId: table.schema.fields.find(({ title }) => title === 'Qty')?.id ?? '',
    })
    await eventually(grid.titles, (titles) => titles.length === 1)
    await undoKey(grid)
    await grid.page
      .getByRole('dialog', { name: 'Undo “Delete field Qty from Tasks”?' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await eventually(grid.titles, (titles) => titles.length === 2)
    await toast(grid, 'Undone: Delete field Qty from Tasks')
  })
})

describe('the history of a record', () => {
  test('adds older entries while other records change, and reads the changes afterwards', async () => {
    const table = await tests.createTable(FIELDS, items(2))
    const api = tests.app().trpc(tests.owner().token)
    const { baseId, tableId } = table
    const qty = table.schema.fields.find(({ title }) => title === 'Qty')?.id ?? ''
    const write = (id: number, value: number) => {
      const rows = [{ id, values: { [qty]: value } }]
      return api.records.write.mutate({ change: { baseId, operations: [{ kind: 'update', tableId, rows }] } })
    }
    for (let value = 100; value < 170; value++) await write(1, value)
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    await page.getByTestId('record-panel').getByRole('tab', { name: 'History' }).click()
    const entries = page.getByTestId('history-entry')
    await entries.first().waitFor()
    expect(await entries.count()).toBe(50)
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await page.route('**/trpc/*records.history*', async (route) => {
      if (decodeURIComponent(route.request().url()).includes('"cursor":')) {
        asked.resolve()
        await released.promise
      }
      // Requests that the page has aborted meanwhile cannot continue.
      await route.continue().catch(() => {})
    })
    await page.getByRole('button', { name: 'Show older' }).click()
    await asked.promise
    await write(2, 5000)
    await grid.shows('Qty', ['169', '5000'])
    await write(1, 170)
    await grid.shows('Qty', ['170', '5000'])
    released.resolve()
    expect(
      await eventually(
        () => entries.count(),
        (count) => count > 71,
      ),
    ).toBe(72)
    await page.unroute('**/trpc/*records.history*')
  })
})

describe('a field that another person deletes', () => {
  test('does not fail the records that the page asks for meanwhile', async () => {
    const table = await tests.createTable(FIELDS, items(600))
    const grid = await tests.openTable(table)
    const { page } = grid
    const asked = Promise.withResolvers<void>()
    const deleted = Promise.withResolvers<void>()
    await page.route('**/trpc/records.list*', async (route) => {
      asked.resolve()
      await deleted.promise
      await route.continue()
    })
    await page.locator('[role="grid"]').evaluate((element) => {
      element.scrollTop = element.scrollHeight
    })
    await asked.promise
    const fieldId = table.schema.fields.find(({ title }) => title === 'Qty')?.id ?? ''
    await tests.app().trpc(tests.owner().token).schema.deleteField.mutate({ fieldId })
    const answered = page.waitForResponse('**/trpc/records.list*')
    deleted.resolve()
    expect((await answered).status()).toBe(200)
    await grid.showsIn(599, 'Title', 'Item 600')
    await eventually(grid.titles, (titles) => titles.length === 1)
  })
})

describe('the history of a base', () => {
  test('lists what everyone did and undoes a single action, which can be redone', async () => {
    const table = await tests.createTable(FIELDS, items(2))
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const qty = table.schema.fields.find(({ title }) => title === 'Qty')?.id ?? ''
    const write = (token: string, id: number, value: number) =>
      tests
        .app()
        .trpc(token)
        .records.write.mutate({
          change: {
            baseId: table.baseId,
            operations: [
              { kind: 'update', tableId: table.tableId, rows: [{ id, values: { [qty]: value } }] },
            ],
          },
        })
    await write(editor.token, 1, 10)
    await write(tests.owner().token, 2, 20)
    const grid = await tests.openTable(table)
    await grid.page.getByRole('link', { name: 'History' }).click()
    const row = (text: string) =>
      grid.page.locator('[data-testid=history-action][data-step=did]').filter({ hasText: text })
    await row('Qty of Item 2: 2 → 20').waitFor()
    const theirs = row('Qty of Item 1: 1 → 10')
    await theirs.getByText(editor.email).waitFor()
    await theirs.getByRole('button', { name: 'Undo' }).click()
    await theirs.getByRole('button', { name: 'Redo' }).waitFor()
    expect([await qtyOf(table, 1), await qtyOf(table, 2)]).toEqual([1, 20])
    await theirs.getByRole('button', { name: 'Redo' }).click()
    await theirs.getByRole('button', { name: 'Undo' }).waitFor()
    expect(await qtyOf(table, 1)).toBe(10)
  })
})

describe('dates and times', () => {
  test('are in the time zone of the browser in messages of undo, in the history and in the trash', async () => {
    const fields = [
      { title: 'At', type: 'DateTime' as const },
      { title: 'Due', type: 'DateTime' as const },
    ]
    const table = await tests.createTable(fields, [
      ['2026-01-05 23:30:00+00:00', '2026-01-05 22:20:00+00:00'],
    ])
    const grid = await tests.openTable(table, tests.owner(), { timezoneId: 'Asia/Tokyo' })
    const { page } = grid
    await grid.cell(0, 'Due').click()
    await page.keyboard.press('Delete')
    await grid.saved()
    await undoKey(grid)
    await toast(grid, 'Undone: Due of 2026-01-06 08:30: 2026-01-06 07:20 → (empty)')
    await page.getByRole('link', { name: 'History' }).click()
    const row = page.getByTestId('history-action').filter({ hasText: 'Due of 2026-01-06 08:30' }).first()
    await row.getByRole('button', { name: 'Details' }).click()
    await row.getByTestId('entry-details').getByRole('link', { name: '2026-01-06 08:30' }).waitFor()
    const api = tests.app().trpc(tests.owner().token)
    const operations = [{ kind: 'delete' as const, tableId: table.tableId, ids: [1] }]
    await api.records.write.mutate({ change: { baseId: table.baseId, operations } })
    await page.getByRole('link', { name: 'Trash' }).click()
    const item = page.getByTestId('trashed-item').filter({ hasText: '2026-01-06 08:30' })
    await item.getByText('2026-01-06 07:20').waitFor()
  })
})

describe('deleting records', () => {
  test('asks before more than a hundred, and offers to undo fewer', async () => {
    const grid = await tests.open(FIELDS, items(120))
    const { page } = grid
    await page.getByRole('checkbox', { name: 'Select all records' }).check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete 120 records?' })
    await question.getByText('They move to the trash of table Tasks').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(grid.writes()).toEqual([])
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete' }).click()
    await question.getByRole('button', { name: 'Delete 120 records' }).click()
    await untilCount(grid, '0 records')
    await page.getByRole('button', { name: 'Undo' }).click()
    await untilCount(grid, '120 records')
  })

  test('that clears many values offers to undo it', async () => {
    const table = await tests.createTable(FIELDS, items(120))
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(0, 'Qty').click()
    await page.keyboard.press('ControlOrMeta+Shift+ArrowDown')
    await page.keyboard.press('Delete')
    const message = page.getByRole('status').filter({ hasText: /^Values cleared in 120 records/ })
    await message.waitFor()
    expect(await qtyOf(table, 60)).toBeNull()
    await message.getByRole('button', { name: 'Undo' }).click()
    await toast(grid, 'Undone: Values cleared in 120 records')
    expect(await qtyOf(table, 60)).toBe(60)
  })

  test('leaves records alone that were ticked and that a search hides by now', async () => {
    const grid = await tests.open(FIELDS, [
      ['apple', 1],
      ['pear', 2],
      ['plum', 3],
    ])
    const { page } = grid
    for (const row of [0, 1]) {
      await grid.cell(row, 'Title').hover()
      await page.getByRole('checkbox', { name: `Select record ${row + 1}` }).check()
    }
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('apple')
    await page.keyboard.press('Enter')
    await eventually(
      () => page.getByTestId('row').count(),
      (rows) => rows === 1,
    )
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete' }).click()
    await toast(grid, '1 record deleted')
    await page.getByLabel('Search this view').fill('')
    await grid.shows('Title', ['pear', 'plum'])
  })
})

/** The trash of a base with a deleted field, view and table in it, open. */
async function openFullTrash() {
  const table = await tests.createTable(FIELDS, items(1))
  const api = tests.app().trpc(tests.owner().token)
  const { tableId, baseId } = table
  await api.schema.deleteField.mutate({
    fieldId: table.schema.fields.find(({ title }) => title === 'Qty')?.id ?? '',
  })
  const view = await api.views.create.mutate({ tableId, title: 'Open ones', kind: 'grid' })
  await api.views.delete.mutate({ viewId: view.id })
  const other = await secondTable(table)
  await api.schema.deleteTable.mutate({ tableId: other.tableId })
  const grid = await tests.openTable(table)
  const { page } = grid
  await go(grid, `/nc/${baseId}/trash`)
  return { api, baseId, tableId, page }
}

describe('the trash', () => {
  test('lists, finds, restores and deletes forever', async () => {
    const table = await tests.createTable(FIELDS, items(5))
    const api = tests.app().trpc(tests.owner().token)
    const remove = (ids: number[]) =>
      api.records.write.mutate({
        change: { baseId: table.baseId, operations: [{ kind: 'delete', tableId: table.tableId, ids }] },
      })
    await remove([1])
    await remove([2, 3, 5])
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.getByRole('link', { name: 'Trash' }).click()
    const row = (text: string) => page.getByTestId('trashed-item').filter({ hasText: text })
    await row('Item 3').waitFor()
    await page.getByText('3 records deleted together').waitFor()
    await page.getByRole('searchbox', { name: 'Search the trash' }).fill('item 1')
    await row('Item 3').waitFor({ state: 'detached' })
    await row('Item 1').getByRole('button', { name: 'Restore' }).click()
    await toast(grid, '“Item 1” was restored')
    await page.getByRole('searchbox', { name: 'Search the trash' }).fill('')
    await row('Item 2').getByRole('button', { name: 'Delete Item 2 forever' }).click()
    const question = page.getByRole('dialog', { name: 'Delete “Item 2” forever?' })
    await question.getByRole('button', { name: 'Delete forever' }).click()
    await row('Item 2').waitFor({ state: 'detached' })
    await page.getByText('2 records deleted together').waitFor()
    await go(grid, `/nc/${table.baseId}/${table.tableId}`)
    await grid.shows('Title', ['Item 1', 'Item 4'])
    await go(grid, `/nc/${table.baseId}/trash`)
    await page.getByRole('button', { name: 'Restore all' }).click()
    await page.getByText('The trash is empty').waitFor()
    await go(grid, `/nc/${table.baseId}/${table.tableId}`)
    await grid.shows('Title', ['Item 1', 'Item 3', 'Item 4', 'Item 5'])
  })

  test('deletes fields, views and tables forever, a table once its name is typed', async () => {
    const { api, baseId, page } = await openFullTrash()
    await page.getByText('Deleted items are kept for 30 days').waitFor()
    for (const title of ['Qty', 'Open ones', 'big']) {
      await page.getByRole('button', { name: `Delete ${title} forever` }).click()
      const agree = page.getByRole('button', { name: 'Delete forever', exact: true })
      if (title === 'big') {
        expect(await agree.isDisabled()).toBe(true)
        await page.getByLabel('Type “big” to confirm').fill('big')
      }
      await agree.click()
      const row = page.getByTestId('trashed-item').filter({ hasText: title })
      await row.waitFor({ state: 'detached' })
    }
    await page.getByText('The trash is empty').waitFor()
    expect(await api.schema.tables.query({ baseId, trash: true })).toEqual([])
  })

  test('filters by kind, and restores everything that is selected at once', async () => {
    const { api, baseId, tableId, page } = await openFullTrash()
    const rows = page.getByTestId('trashed-item')
    await rows.nth(2).waitFor()
    await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Views' })
    await rows.filter({ hasText: 'Qty' }).waitFor({ state: 'detached' })
    await rows.filter({ hasText: 'Open ones' }).waitFor()
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('Deleted forever in 30 days')])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rows.nth(2).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Restore 3 items' }).click()
    await page.getByText('3 items restored').waitFor()
    await page.getByText('The trash is empty').waitFor()
    const { fields, views } = await api.schema.table.query({ tableId })
    expect([
      fields.some(({ title }) => title === 'Qty'),
      views.some(({ title }) => title === 'Open ones'),
    ]).toEqual([true, true])
    expect(await api.schema.tables.query({ baseId })).toHaveLength(2)
  })

  test('tells a new name and closed links of what comes back, and is emptied once the name of the base is typed', async () => {
    const { api, baseId, tableId, page } = await openFullTrash()
    await api.schema.createField.mutate({ tableId, field: { title: 'Qty', type: 'Number' } })
    const row = page.getByTestId('trashed-item').filter({ hasText: 'Qty' })
    await row.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('“Qty” is now “Qty_1”').waitFor()
    await page.getByRole('button', { name: 'Empty trash' }).click()
    const { title } = await api.bases.get.query({ baseId })
    await page.getByLabel(`Type “${title}” to confirm`).fill(title)
    await page.getByRole('button', { name: 'Delete forever', exact: true }).click()
    await page.getByText('2 items deleted forever').waitFor()
    await page.getByText('The trash is empty').waitFor()
  })

  test('restores more selected items than one call takes', async () => {
    const table = await tests.createTable(FIELDS, items(MAX_TRASH_ITEMS + 1))
    const api = tests.app().trpc(tests.owner().token)
    const { tableId, baseId } = table
    await api.records.deleteMatching.mutate({ selection: { tableId } })
    const view = await api.views.create.mutate({ tableId, title: 'Open ones', kind: 'grid' })
    await api.views.delete.mutate({ viewId: view.id })
    const grid = await tests.openTable(table)
    const { page } = grid
    await go(grid, `/nc/${baseId}/trash`)
    const rows = page.getByTestId('trashed-item')
    for (let shown = 50; shown <= MAX_TRASH_ITEMS; shown += 50) {
      await rows.nth(shown - 1).waitFor()
      await page.getByRole('button', { name: 'Show older' }).click()
    }
    await rows.nth(MAX_TRASH_ITEMS + 1).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Restore 502 items' }).click()
    await page.getByText('502 items restored').waitFor()
    await page.getByText('The trash is empty').waitFor()
    expect((await api.schema.table.query({ tableId })).views.map(({ title }) => title)).toContain('Open ones')
  })

  test('is kept for as long as an owner chooses', async () => {
    const { api, baseId, page } = await openFullTrash()
    const choice = page.getByRole('combobox', { name: 'Keep deleted items for' })
    await choice.selectOption('90')
    await page.getByText('Deleted items are kept for 90 days').waitFor()
    await choice.selectOption('7')
    await page.getByRole('button', { name: 'Keep for 7 days' }).click()
    await page.getByText('Deleted items are kept for 7 days').waitFor()
    expect(await api.trash.retention.query({ baseId })).toMatchObject({ days: 7 })
  })
})

describe('deleting a base', () => {
  test('names what goes along and has its name typed; without a base one can restore it', async () => {
    const table = await tests.createTable(FIELDS, items(3))
    const api = tests.app().trpc(tests.owner().token)
    const { baseId } = table
    const base = await api.bases.get.query({ baseId })
    const member = await createMember(tests.app(), baseId, 'owner')
    const grid = await tests.openTable(table, member)
    const { page } = grid
    await page.getByRole('button', { name: `Options for base ${base.title}` }).click()
    await page.getByRole('menuitem', { name: 'Delete base' }).click()
    const question = page.getByRole('dialog', { name: `Delete base “${base.title}”?` })
    const lines = question.getByTestId('base-contents').getByRole('listitem')
    await lines.first().waitFor()
    expect(await lines.allTextContents()).toEqual(['1 table', '3 records', '2 members, who lose access'])
    const confirmButton = question.getByRole('button', { name: 'Delete base' })
    expect(await confirmButton.isDisabled()).toBe(true)
    await question.getByRole('textbox').fill(base.title)
    await confirmButton.click()
    await page.getByText(`Base “${base.title}” is in the trash`).waitFor()
    await page.getByRole('button', { name: `Restore “${base.title}”` }).click()
    await page.getByRole('link', { name: base.title }).first().waitFor()
    // The browser reports the 404 by which the page learned that the base is gone.
    grid.problems.splice(0)
  })
})
