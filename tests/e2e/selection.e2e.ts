import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import {
  copied,
  eventually,
  type GridPage,
  gridTests,
  type OpenTable,
  recordCount,
  restingBox,
  textOf,
  untilCount,
} from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
]

/** 300 records: those with small numbers stand at the end of a sort that begins with the largest. */
const ROWS = Array.from({ length: 300 }, (_, at): CellValue[] => [`r${at}`, at])

const owners = () => tests.app().trpc(tests.owner().token)

const fieldId = ({ schema }: OpenTable, title: string) =>
  schema.fields.find((field) => field.title === title)?.id ?? ''

async function sortBy(table: OpenTable, title: string, direction: 'asc' | 'desc'): Promise<void> {
  const viewId = table.schema.views[0]?.id ?? ''
  await owners().views.update.mutate({
    viewId,
    patch: { sorts: [{ fieldId: fieldId(table, title), direction }] },
  })
}

const numbers = (grid: GridPage) => grid.page.getByTestId('selection-numbers')

/** Waits until the line over the footer begins so, and gives it. */
const untilNumbers = (grid: GridPage, text: string) =>
  eventually(
    async () => ((await numbers(grid).count()) === 0 ? '' : textOf(numbers(grid))),
    (now) => now.includes(text),
  )

/** What is copied is what is selected. */
async function selectedTexts(grid: GridPage): Promise<string[]> {
  return (await copied(grid.page)).plain.split('\n')
}

/**
 * Deletes a record of 900 that is not loaded, so that selected ones above the screen have to be located again. Returns a
 * function that releases the answer.
 */
async function locateAgain({ page, showsIn }: GridPage, { baseId, tableId }: OpenTable): Promise<() => void> {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route('**/trpc/records.positions*', async (route) => {
    asked.resolve()
    await released.promise
    await route.continue()
  })
  await owners().records.write.mutate({
    change: { baseId, operations: [{ kind: 'delete', tableId, ids: [450] }] },
  })
  await asked.promise
  await showsIn(898, 'Title', 'r899')
  return released.resolve
}

describe('the selection', () => {
  test('is summed with as many decimals as its cells have', async () => {
    const fields = [...FIELDS, { title: 'Rate', type: 'Decimal' as const, options: { precision: 4 } }]
    const table = await tests.createTable(fields, [
      ['a', 1, 0.0004],
      ['b', 2, 0.0008],
    ])
    const grid = await tests.openTable(table)
    await grid.cell(0, 'Rate').click()
    await grid.cell(1, 'Rate').click({ modifiers: ['Shift'] })
    const text = await untilNumbers(grid, 'Sum')
    expect(text).toContain('Sum 0.0012')
    expect(text).toContain('Average 0.0006')
  })

  test('is summed without rounding errors', async () => {
    const fields = [...FIELDS, { title: 'Amount', type: 'Decimal' as const, options: { precision: null } }]
    const rows = Array.from({ length: 30 }, (_, at): CellValue[] => [`r${at}`, at, 1_000_000.1])
    const grid = await tests.openTable(await tests.createTable(fields, rows))
    await grid.header('Amount').click()
    expect(await untilNumbers(grid, 'Sum')).toMatch(/Sum 30,000,003(?![.,\d])/)
  })

  test('stays on its records when they are sorted, beyond what is loaded too, with their sum', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    await grid.cell(2, 'Stock').click()
    await grid.cell(5, 'Stock').click({ modifiers: ['Shift'] })
    expect(await untilNumbers(grid, 'Sum 14')).toContain('4 cells')
    await sortBy(table, 'Stock', 'desc')
    await grid.shows('Stock', ['299', '298'])
    expect(await untilNumbers(grid, '(loaded cells only)')).toContain('4 cells')
    expect((await selectedTexts(grid)).toSorted()).toEqual(['2', '3', '4', '5'])
    await grid.page.keyboard.press('Delete')
    await grid.saved()
    await sortBy(table, 'Title', 'asc')
    await grid.shows('Title', ['r0', 'r1', 'r10'])
    const page = await owners().records.list.query({
      query: { tableId: table.tableId, limit: 300, offset: 0, fieldIds: [fieldId(table, 'Stock')] },
    })
    expect(page.rows.flatMap(([stock], at) => (stock === null ? [at] : []))).toEqual([2, 3, 4, 5])
  })

  test('goes with its records into groups, apart where others stand between them', async () => {
    const rows = Array.from({ length: 12 }, (_, at): CellValue[] => [at % 3 === 0 ? 'x' : 'y', at * 10])
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    await grid.cell(2, 'Stock').click()
    await grid.cell(6, 'Stock').click({ modifiers: ['Shift'] })
    expect(await untilNumbers(grid, 'Sum 200')).toContain('5 cells')
    const viewId = table.schema.views[0]?.id ?? ''
    const groups = [{ fieldId: fieldId(table, 'Title'), direction: 'asc' as const }]
    await owners().views.update.mutate({ viewId, patch: { groups } })
    await grid.page.getByTestId('group').first().waitFor()
    expect(await untilNumbers(grid, 'Sum 200')).toContain('5 cells')
    const marked = await eventually(
      () => grid.page.locator('[role="gridcell"][aria-selected="true"]').allTextContents(),
      (texts) => texts.length === 5,
    )
    expect(marked.toSorted()).toEqual(['20', '30', '40', '50', '60'])
  })

  test('is filled from its first row, which is not loaded any more', async () => {
    const rows = Array.from({ length: 1300 }, (_, at): CellValue[] => [`r${at}`, at + 7])
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    await grid.page.locator('[role="grid"]').evaluate((element) => {
      element.scrollTop = element.scrollHeight
    })
    await grid.showsIn(1299, 'Stock', '1306')
    // After a record that others add, the grid reads the visible rows again and forgets the rest.
    const operations = [{ kind: 'insert' as const, tableId: table.tableId, rows: [{ values: {} }] }]
    await owners().records.write.mutate({ change: { baseId: table.baseId, operations } })
    await untilCount(grid, '1,301 records')
    await grid.header('Stock').click()
    await grid.page.keyboard.press('ControlOrMeta+d')
    const stock = async () => {
      const { values } = await owners().records.get.query({ tableId: table.tableId, recordId: 1300 })
      return values[fieldId(table, 'Stock')] ?? null
    }
    expect(await eventually(stock, (now) => now !== 1306)).toBe(7)
  })

  test('is dropped where a search leaves its record out', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    await grid.cell(3, 'Stock').click()
    await grid.page.keyboard.press('ControlOrMeta+f')
    await grid.page.keyboard.type('r29')
    expect(
      await eventually(
        () => recordCount(grid),
        (text) => text === '11 records',
      ),
    ).toBe('11 records')
    await grid.shows('Title', ['r29', 'r290'])
    expect(
      await eventually(
        () => grid.page.getByTestId('active-cell').count(),
        (count) => count === 0,
      ),
    ).toBe(0)
  })

  test('follows what others add, remove and write, and so do the sums', async () => {
    const table = await tests.createTable(FIELDS, ROWS.slice(0, 8))
    const grid = await tests.openTable(table)
    await grid.cell(2, 'Stock').click()
    await grid.cell(4, 'Stock').click({ modifiers: ['Shift'] })
    expect(await untilNumbers(grid, 'Sum 9')).toContain('3 cells')
    const write = (
      operation: { kind: 'delete'; ids: number[] } | { kind: 'set'; id: number; stock: number },
    ) =>
      owners().records.write.mutate({
        change: {
          baseId: table.baseId,
          operations: [
            operation.kind === 'delete'
              ? { kind: 'delete', tableId: table.tableId, ids: operation.ids }
              : {
                  kind: 'update',
                  tableId: table.tableId,
                  rows: [{ id: operation.id, values: { [fieldId(table, 'Stock')]: operation.stock } }],
                },
          ],
        },
      })
    await write({ kind: 'set', id: 4, stock: 100 })
    expect(await untilNumbers(grid, 'Sum 106')).toContain('3 cells')
    await write({ kind: 'delete', ids: [1, 4] })
    expect(await untilNumbers(grid, 'Sum 6')).toContain('2 cells')
    expect(await selectedTexts(grid)).toEqual(['2', '4'])
    await grid.page.keyboard.press('Delete')
    await grid.saved()
    await grid.shows('Stock', ['1', '', '', '5'])
    const text = await eventually(
      () => textOf(numbers(grid)),
      (now) => !now.includes('Sum'),
    )
    expect(text).toBe('2 cells')
  })

  /** Selects a cell (or a row, without a title) and scrolls away from it; its record is being located until `release`. */
  async function locatingFirst(title: string | null) {
    const rows = Array.from({ length: 900 }, (_, at): CellValue[] => [`r${at}`, at])
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    const { page } = grid
    const pressed = (row: number) =>
      title === null ? page.locator(`[data-part="rowNumber"][data-row="${row}"]`) : grid.cell(row, title)
    await pressed(10).click()
    await page.getByRole('grid').evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await grid.showsIn(899, 'Title', 'r899')
    return { grid, pressed, release: await locateAgain(grid, table) }
  }

  test.each([
    ['cell', 'Title', '889 cells'],
    ['row', null, '1,778 cells'],
  ])('is extended to another %s while its first record is being located again', async (_, title, cells) => {
    const { grid, pressed, release } = await locatingFirst(title)
    await pressed(898).click({ modifiers: ['Shift'] })
    release()
    expect(await untilNumbers(grid, cells)).toContain(cells)
    await grid.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test.each([
    ['cells', 'Title', '3 cells'],
    ['rows', null, '6 cells'],
  ])('gets further %s while its first record is being located again', async (_, title, cells) => {
    const { grid, pressed, release } = await locatingFirst(title)
    for (const row of [890, 894]) await pressed(row).click({ modifiers: ['ControlOrMeta'] })
    release()
    expect(await untilNumbers(grid, cells)).toContain(cells)
    await grid.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('gets a column while its first record is being located again', async () => {
    const { grid, release } = await locatingFirst('Title')
    await grid.header('Stock').click({ modifiers: ['ControlOrMeta'] })
    release()
    expect(await untilNumbers(grid, '900 cells')).toContain('900 cells')
    await grid.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('keeps its records that are being located when a pointer that moves extends it', async () => {
    const rows = Array.from({ length: 900 }, (_, at): CellValue[] => [`r${at}`, at])
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(10, 'Title').click()
    await page.getByRole('grid').evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await grid.showsIn(899, 'Title', 'r899')
    await grid.cell(890, 'Title').click({ modifiers: ['ControlOrMeta'] })
    expect(await untilNumbers(grid, '2 cells')).toBe('2 cells')
    const release = await locateAgain(grid, table)
    const box = await restingBox(grid.cell(895, 'Title'))
    await page.keyboard.down('Shift')
    await page.mouse.move(box.x + 20, box.y + 8)
    await page.mouse.down()
    await page.mouse.move(box.x + 22, box.y + 9)
    await page.mouse.up()
    await page.keyboard.up('Shift')
    release()
    // One, and those from `r890` on.
    expect(await untilNumbers(grid, '8 cells')).toBe('8 cells')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('has a menu for all of its records, also those that were not loaded', async () => {
    const rows = Array.from({ length: 900 }, (_, at): CellValue[] => [`r${at}`, at])
    const grid = await tests.openTable(await tests.createTable(FIELDS, rows))
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.getByRole('grid').evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await grid.showsIn(899, 'Title', 'r899')
    await grid.cell(899, 'Title').click({ modifiers: ['Shift'] })
    expect(await untilNumbers(grid, '900 cells')).toContain('900 cells')
    await grid.cell(899, 'Title').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete 900 records' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 900 records' }).click()
    expect(await untilCount(grid, '0 records')).toBe('0 records')
  })

  test('has a menu for the records of two columns, each once', async () => {
    const rows = Array.from({ length: 600 }, (_, at): CellValue[] => [`r${at}`, at])
    const grid = await tests.openTable(await tests.createTable(FIELDS, rows))
    await grid.header('Title').click()
    await grid.header('Stock').click({ modifiers: ['ControlOrMeta'] })
    await grid.cell(0, 'Title').click({ button: 'right' })
    await grid.page.getByRole('menuitem', { name: 'Delete 600 records' }).waitFor()
    const duplicate = grid.page.getByRole('menuitem', { name: 'Duplicate 600 records' })
    expect(await textOf(duplicate)).toContain('At most 500 records at once')
    expect(await duplicate.getAttribute('aria-disabled')).toBe('true')
  })

  test('has a menu that says so where there are too many of them', async () => {
    const rows = Array.from({ length: 1001 }, (_, at): CellValue[] => [`r${at}`, at])
    const grid = await tests.openTable(await tests.createTable(FIELDS, rows))
    await grid.header('Title').click()
    await grid.cell(0, 'Title').click({ button: 'right' })
    const remove = grid.page.getByRole('menuitem', { name: 'Delete 1,001 records' })
    expect(await textOf(remove)).toContain('At most 1,000 records at once')
    expect(await remove.getAttribute('aria-disabled')).toBe('true')
    expect(await grid.page.getByRole('menuitem', { name: 'Delete record', exact: true }).count()).toBe(0)
  })

  test.each(['menu', 'page'] as const)('has no menu that comes too late for another %s', async (kind) => {
    const rows = Array.from({ length: 900 }, (_, at): CellValue[] => [`r${at}`, at])
    const table = await tests.createTable(FIELDS, rows)
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    await page.getByRole('grid').evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await grid.showsIn(899, 'Title', 'r899')
    await grid.cell(895, 'Title').click({ modifiers: ['Shift'] })
    expect(await untilNumbers(grid, '896 cells')).toContain('896 cells')
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    await page.route('**/trpc/records.list*', async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await released.promise
      await route.fulfill({ response })
      answered.resolve()
    })
    await grid.cell(895, 'Title').click({ button: 'right' })
    await asked.promise
    const single = page.getByRole('menuitem', { name: 'Delete record', exact: true })
    if (kind === 'menu') {
      await grid.cell(899, 'Title').click({ button: 'right' })
      await single.waitFor()
    } else {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/nc/${table.baseId}`)
      await page.getByRole('grid').waitFor({ state: 'detached' })
    }
    released.resolve()
    await answered.promise
    await page.evaluate(() => new Promise((done) => setTimeout(done, 500)))
    expect(await page.getByRole('menuitem', { name: /^Delete \d+ records$/ }).count()).toBe(0)
    expect(await single.count()).toBe(kind === 'menu' ? 1 : 0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})

describe('ticked records', () => {
  test('say why too many cannot be duplicated at once, and can be moved', async () => {
    const rows = Array.from({ length: 1001 }, (_, at): CellValue[] => [`r${at}`, at])
    const { page } = await tests.openTable(await tests.createTable(FIELDS, rows))
    await page.getByTestId('check-all').check()
    const bar = page.getByTestId('bulk-bar')
    const button = (name: string) => bar.getByRole('button', { name, exact: true })
    await button('Duplicate').hover()
    await page.getByRole('tooltip').getByText('At most 500 records at once').waitFor()
    expect(await button('Duplicate').isDisabled()).toBe(true)
    expect(await button('Copy or move').isEnabled()).toBe(true)
    expect(await button('Copy').isEnabled()).toBe(true)
    expect(await button('Export').isEnabled()).toBe(true)
  })

  test('stay ticked through a sort, and are given up where a search leaves them out', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    for (const row of [0, 1, 2]) {
      await page.locator(`[data-part="rowNumber"][data-row="${row}"]`).hover()
      await page.locator(`[data-part="rowCheck"][data-row="${row}"]`).click()
    }
    const bar = page.getByTestId('bulk-bar')
    expect(await textOf(bar)).toContain('3 records selected')
    await sortBy(table, 'Stock', 'desc')
    await grid.shows('Stock', ['299', '298'])
    expect(await textOf(bar)).toContain('3 records selected')
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('r2')
    const text = await eventually(
      () => textOf(bar),
      (now) => now.includes('1 record selected'),
    )
    expect(text).toContain('1 record selected')
  })

  test('are not all others, once "all" meant those of a search', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('r29')
    expect(await untilCount(grid, '11 records')).toBe('11 records')
    await page.locator('[data-part="corner"]').click()
    const bar = page.getByTestId('bulk-bar')
    expect(await textOf(bar)).toContain('11 records selected')
    await page.getByTestId('search-input').press('Escape')
    await eventually(
      () => recordCount(grid),
      (text) => text === '300 records',
    )
    expect(
      await eventually(
        () => bar.count(),
        (count) => count === 0,
      ),
    ).toBe(0)
  })

  test.each(['gallery', 'kanban'] as const)('are given up in a %s as well', async (kind) => {
    const table = await tests.createTable(
      [...FIELDS, { title: 'Kind', type: 'SingleSelect' as const, options: { choices: [{ title: 'a' }] } }],
      ['fig', 'plum', 'plume'].map((title, at): CellValue[] => [title, at, 'a']),
    )
    const view = await owners().views.create.mutate({ tableId: table.tableId, title: 'Cards', kind })
    const { page } = await tests.openTable(table)
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#/nc/${table.baseId}/${table.tableId}/${view.id}`)
    const card = (title: string) => page.getByText(title, { exact: true })
    await card('fig').click({ modifiers: ['ControlOrMeta'] })
    await card('plum').click({ modifiers: ['ControlOrMeta'] })
    const bar = page.getByTestId('bulk-bar')
    await bar.getByText('2 records selected').waitFor()
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('plum')
    await bar.getByText('1 record selected').waitFor()
  })
})
