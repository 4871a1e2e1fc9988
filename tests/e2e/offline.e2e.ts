import { describe, expect, test } from 'bun:test'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  {
    title: 'Status',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Todo' }, { title: 'Done' }] },
  },
]

describe('without a connection', () => {
  test('views that were on the screen before show what they showed, changes included', async () => {
    const table = await tests.createTable(FIELDS, [
      ['apple', 'Todo'],
      ['pear', 'Done'],
    ])
    const api = tests.app().trpc(tests.owner().token)
    const second = await api.schema.createTable.mutate({
      baseId: table.baseId,
      title: 'Second',
      fields: FIELDS,
    })
    const board = await api.views.create.mutate({
      tableId: table.tableId,
      title: 'Board',
      kind: 'kanban',
    })
    const grid = await tests.openTable(table)
    const { page } = grid
    const root = `#/nc/${table.baseId}`
    const go = (path: string) =>
      page.evaluate((hash) => {
        location.hash = hash
      }, `${root}/${path}`)
    await go(`${table.tableId}/${board.id}`)
    await page.getByText('Uncategorised').or(page.getByText('Todo')).first().waitFor()
    await page.getByText('pear').waitFor()
    await go(table.tableId)
    await grid.cell(0, 'Title').click()
    await page.keyboard.type('avocado', { delay: 0 })
    await page.keyboard.press('Enter')
    await page.getByTestId('add-record').click()
    await page.keyboard.type('plum', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.saved()
    await go(second.table.id)
    await eventually(
      () => page.getByText('avocado').count(),
      (count) => count === 0,
    )

    await page.context().setOffline(true)
    await go(table.tableId)
    await grid.shows('Title', ['avocado', 'pear', 'plum'])
    await go(`${table.tableId}/${board.id}`)
    await page.getByText('avocado').waitFor()
    expect(await page.getByText('could not be read').count()).toBe(0)

    // What was not looked at before cannot be shown.
    await api.records.write.mutate({
      change: {
        baseId: table.baseId,
        operations: [
          {
            kind: 'insert',
            tableId: table.tableId,
            rows: [
              { values: { [table.schema.fields.find(({ title }) => title === 'Title')?.id ?? '']: 'fig' } },
            ],
          },
        ],
      },
    })
    await go(table.tableId)
    await grid.shows('Title', ['avocado', 'pear', 'plum'])
    await page.context().setOffline(false)
    await grid.shows('Title', ['avocado', 'pear', 'plum', 'fig'])
    // The browser notes every request that found no server.
    grid.problems.length = 0
  })
})
