import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests } from './grid-page.ts'
import { see, tableLink } from './shell-page.ts'

const tests = gridTests()

const openMenu = (page: Page) =>
  page.getByRole('button', { name: 'Options for table Tasks', exact: true }).click()
const entry = (page: Page) => page.getByRole('menuitem', { name: 'Performance', exact: true })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Performance of “Tasks”' })

const FIELDS = [
  { title: 'Name', type: 'SingleLineText' as const },
  { title: 'Quantity in the warehouse', type: 'Number' as const },
]
const ROWS = Array.from({ length: 1_200 }, (_, row) => [`task ${row}`, row])

test('a table’s performance says how views are read, and creates and drops the index that helps', async () => {
  const table = await tests.createTable(FIELDS, ROWS)
  const api = tests.app().trpc(tests.owner().token)
  const quantity = table.schema.fields.find(({ title }) => title.startsWith('Quantity'))?.id ?? ''
  const [view] = table.schema.views
  await api.views.update.mutate({
    viewId: view?.id ?? '',
    patch: { sorts: [{ fieldId: quantity, direction: 'desc' }] },
  })
  const { page } = await tests.openTable(table)
  await openMenu(page)
  await entry(page).click()
  const box = dialog(page)
  await see(box.getByText('Reads 1,200 records to return 25 records'))
  await see(box.getByText('An index on Quantity in the warehouse ↓ would help'))
  await see(box.getByText('Indexes are created automatically'))
  await see(box.getByText('The first search of a table with 20,000 records or more builds an index'))
  await box.getByRole('button', { name: 'Create index' }).click()
  const drop = box.getByRole('button', { name: 'Drop the index on Quantity in the warehouse ↓' })
  await see(drop)
  await see(box.getByText('uses an index'))
  await eventually(
    () => box.getByRole('button', { name: 'Create index' }).count(),
    (count) => count === 0,
  )
  expect((await api.indexes.list.query({ tableId: table.tableId })).map(({ state }) => state)).toEqual([
    'ready',
  ])
  await drop.click()
  await see(page.getByRole('dialog', { name: /^Drop the index/ }))
  await page.getByRole('button', { name: 'Drop index', exact: true }).click()
  await see(box.getByText('An index on Quantity in the warehouse ↓ would help'))
  expect(await api.indexes.list.query({ tableId: table.tableId })).toEqual([])
})

test('a Performance dialog says that its table was deleted meanwhile', async () => {
  const table = await tests.createTable(FIELDS, [])
  const api = tests.app().trpc(tests.owner().token)
  const { baseId } = table
  const other = await api.schema.createTable.mutate({ baseId, title: 'Doomed', fields: [FIELDS[0]!] })
  const { page, problems } = await tests.openTable(table)
  await tableLink(page, 'Doomed').click({ button: 'right' })
  await entry(page).click()
  const box = page.getByRole('dialog', { name: 'Performance of “Doomed”' })
  await see(box.getByRole('button', { name: /^Measure/ }))
  await api.schema.deleteTable.mutate({ tableId: other.table.id })
  await see(box.getByText('The table was deleted, or you can no longer open it'))
  expect(await box.getByRole('button', { name: /^Measure/ }).count()).toBe(0)
  // The browser notes an answer of 404, unless it came with another one.
  problems.length = 0
})

test('people who may not create indexes do not see it', async () => {
  const table = await tests.createTable(FIELDS, ROWS)
  const editor = await createMember(tests.app(), table.baseId, 'editor')
  const { page } = await tests.openTable(table, editor)
  await openMenu(page)
  await see(page.getByRole('menuitem', { name: 'Relations' }))
  expect(await entry(page).count()).toBe(0)
})

test('a reopened Performance dialog follows a changed view, measures on request, and drops a deleted one', async () => {
  const table = await tests.createTable(FIELDS, ROWS)
  const api = tests.app().trpc(tests.owner().token)
  const { tableId } = table
  const [first] = table.schema.views
  const fieldOf = (start: string) =>
    table.schema.fields.find(({ title }) => title.startsWith(start))?.id ?? ''
  const sortBy = (fieldId: string) =>
    api.views.update.mutate({ viewId: first?.id ?? '', patch: { sorts: [{ fieldId, direction: 'asc' }] } })
  const second = await api.views.create.mutate({ tableId, kind: 'grid', title: 'Backlog' })
  await sortBy(fieldOf('Quantity'))
  const { page, calls } = await tests.openTable(table)
  await openMenu(page)
  await entry(page).click()
  const box = dialog(page)
  await see(box.getByText('An index on Quantity in the warehouse would help'))
  // Nothing is read for the times of views until somebody asks.
  expect(calls).not.toContain('indexes.measure')
  expect(await box.getByText(/\d ms/).count()).toBe(0)
  await box.getByRole('button', { name: `Measure the view “${first?.title}”` }).click()
  await see(box.getByText(/\d ms/))
  await box.getByRole('button', { name: 'Close' }).click()

  await sortBy(fieldOf('Name'))
  await openMenu(page)
  await entry(page).click()
  await see(box.getByText('An index on Name would help'))
  expect(await box.getByText('An index on Quantity in the warehouse would help').count()).toBe(0)
  expect(await box.getByText(/\d ms/).count()).toBe(0)
  await see(box.getByText('Backlog', { exact: true }))
  await api.views.delete.mutate({ viewId: second.id })
  await eventually(
    () => box.getByText('Backlog', { exact: true }).count(),
    (count) => count === 0,
  )
  expect(await box.getByText('Backlog', { exact: true }).count()).toBe(0)
})
