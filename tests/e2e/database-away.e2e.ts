import { afterAll, expect, test } from 'bun:test'
import { startClosableProxy } from '../support/database-proxy.ts'
import { createDatabase } from '../support/servers.ts'
import { eventually, gridTests } from './grid-page.ts'

const database = await createDatabase('postgres')
const proxy = await startClosableProxy(database.url)
const tests = gridTests({ config: { databaseUrl: proxy.url } })
// After the server has stopped.
afterAll(async () => {
  await proxy.stop()
  await database.drop()
})

test('what is typed while the server’s own database is away is kept, and stored once it is back', async () => {
  const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [['apple']])
  const grid = await tests.openTable(table)
  const { page } = grid
  await grid.shows('Title', ['apple'])
  proxy.close()
  await grid.cell(0, 'Title').click()
  await page.keyboard.type('pear')
  await page.keyboard.press('Enter')
  await page.getByText('1 unsaved change').waitFor()
  await grid.shows('Title', ['pear'])
  proxy.open()
  const stored = async () => {
    const query = { tableId: table.tableId, limit: 1, offset: 0 }
    return (await tests.app().trpc(tests.owner().token).records.list.query({ query })).rows[0]
  }
  expect(await eventually(stored, (row) => row?.includes('pear') ?? false)).toContain('pear')
  await page.getByText('1 unsaved change').waitFor({ state: 'detached' })
  // The browser notes the calls that failed.
  grid.problems.length = 0
})
