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

  test('live updates come back after the server has refused a connection', async () => {
    const table = await tests.createTable(FIELDS, [['apple', 'Todo']])
    const grid = await tests.openTable(table)
    const { page } = grid
    const titleId = table.schema.fields.find(({ title }) => title === 'Title')?.id ?? ''
    const { trpc } = tests.app()
    const write = (title: string) =>
      trpc(tests.owner().token).records.write.mutate({
        change: {
          baseId: table.baseId,
          operations: [
            { kind: 'update', tableId: table.tableId, rows: [{ id: 1, values: { [titleId]: title } }] },
          ],
        },
      })
    await page.clock.install()
    await page.reload()
    await grid.shows('Title', ['apple'])
    await page.waitForLoadState('networkidle')
    await write('pear')
    await grid.shows('Title', ['pear'])

    // The token has to be renewed for the next connection, which fails for a moment.
    await page.route('**/trpc/auth.refresh*', (route) => route.abort())
    await page.clock.setSystemTime(Date.now() + 365 * 86_400_000)
    const renewal = page.waitForRequest('**/trpc/auth.refresh*')
    tests.app().kernel.events.emit('access.changed', { userId: tests.owner().id })
    await renewal
    // The server refuses the connection without a token.
    await Bun.sleep(500)
    await page.unroute('**/trpc/auth.refresh*')
    await write('plum')
    await grid.shows('Title', ['plum'])
    // The browser notes the calls that failed.
    grid.problems.length = 0
  })
})
