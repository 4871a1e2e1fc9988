import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, type OpenTable } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'First', type: 'SingleLineText' as const },
  { title: 'Second', type: 'SingleLineText' as const },
]
const ROWS = [
  ['Alpha', 'a', 'b'],
  ['Beta', 'c', 'd'],
]

const api = () => tests.app().trpc(tests.owner().token)

const fieldId = ({ schema }: OpenTable, title: string) =>
  schema.fields.find((field) => field.title === title)!.id

/** A table in which an editor types into a cell of the second record; the owner changes the table meanwhile. */
async function openTyping(title: string) {
  const table = await tests.createTable(FIELDS, ROWS)
  const editor = await createMember(tests.app(), table.baseId, 'editor')
  const grid = await tests.openTable(table, editor)
  await grid.cell(1, title).click()
  await grid.page.keyboard.type('typed')
  await grid.page.getByTestId('cell-editor').waitFor()
  return { table, grid }
}

const hide = (table: OpenTable, title: string) =>
  api().views.arrange.mutate({
    viewId: table.schema.views[0]!.id,
    fields: [{ fieldId: fieldId(table, title), show: false }],
  })

const deleteSecond = ({ baseId, tableId }: OpenTable) =>
  api().records.write.mutate({
    change: { baseId, operations: [{ kind: 'delete', tableId, ids: [2] }] },
  })

/** As `openTyping`, at the end of the second record's *First* in its panel. */
async function openTypingInRecord() {
  const table = await tests.createTable(FIELDS, ROWS)
  const editor = await createMember(tests.app(), table.baseId, 'editor')
  const grid = await tests.openTable(table, editor)
  await grid.cell(1, 'Title').click()
  await grid.page.keyboard.press('Space')
  const panel = grid.page.getByTestId('record-panel')
  await panel.getByRole('textbox', { name: 'First' }).click()
  await grid.page.keyboard.press('End')
  await grid.page.keyboard.type('typed')
  return { table, editor, grid, panel }
}

const isAbsent = (grid: GridPage, title: string) => grid.header(title).waitFor({ state: 'detached' })

const stores = async (table: OpenTable, title: string, text: string) => {
  const read = async () => {
    const { values } = await api().records.get.query({ tableId: table.tableId, recordId: 2 })
    return values[fieldId(table, title)]
  }
  expect(await eventually(read, (value) => value === text)).toBe(text)
}

const hasKeys = ({ page }: GridPage) =>
  page.evaluate(() => document.activeElement?.getAttribute('data-testid') === 'grid-keys')

const message = ({ page }: GridPage, text: string) => page.getByText(text).first().waitFor()

/** Chromium reports each answer of 404 in its console. */
function expectNotFound({ problems }: GridPage): void {
  expect(problems.splice(0)).toEqual([
    'Failed to load resource: the server responded with a status of 404 (Not Found)',
  ])
}

describe('what one types into a cell', () => {
  test('goes on in the same cell while another person hides a field before it', async () => {
    const { table, grid } = await openTyping('Second')
    await hide(table, 'First')
    await isAbsent(grid, 'First')
    await grid.page.keyboard.type(' on')
    await grid.page.keyboard.press('Enter')
    await stores(table, 'Second', 'typed on')
    expect(await hasKeys(grid)).toBe(true)
  })

  test('is saved when another person hides its field, and keys go to the grid', async () => {
    const { table, grid } = await openTyping('First')
    await hide(table, 'First')
    await isAbsent(grid, 'First')
    await stores(table, 'First', 'typed')
    expect(await hasKeys(grid)).toBe(true)
  })

  test('is shown when another person deletes its field', async () => {
    const { table, grid } = await openTyping('First')
    await api().schema.deleteField.mutate({ fieldId: fieldId(table, 'First') })
    await message(grid, '“typed” was not saved. The field was deleted.')
    expect(await hasKeys(grid)).toBe(true)
    expectNotFound(grid)
  })

  test('is shown when another person has deleted its record', async () => {
    const { table, grid } = await openTyping('First')
    await deleteSecond(table)
    await grid.cell(1, 'Title').waitFor({ state: 'detached' })
    await grid.page.keyboard.press('Enter')
    await message(grid, '“typed” was not saved. The record was deleted.')
    expectNotFound(grid)
  })
})

describe('what one types into an open record', () => {
  test('is saved when another person hides its field, and Escape closes the record', async () => {
    const { table, grid, panel } = await openTypingInRecord()
    await hide(table, 'First')
    await stores(table, 'First', 'ctyped')
    await grid.page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  test('is saved when one goes back in the browser', async () => {
    const { table, grid, panel } = await openTypingInRecord()
    await grid.page.goBack()
    await panel.waitFor({ state: 'detached' })
    await stores(table, 'First', 'ctyped')
  })

  test('is saved when another person converts its field', async () => {
    const { table, grid } = await openTypingInRecord()
    await api().schema.updateField.mutate({ fieldId: fieldId(table, 'First'), patch: { type: 'LongText' } })
    await stores(table, 'First', 'ctyped')
    await grid.shows('First', ['a', 'ctyped'])
  })

  test('is shown when the right to change it is revoked', async () => {
    const { table, editor, grid, panel } = await openTypingInRecord()
    await api().bases.updateMember.mutate({ baseId: table.baseId, userId: editor.id, role: 'viewer' })
    const field = panel.getByTestId('record-field').filter({ hasText: 'ctyped' })
    await field.getByRole('alert').waitFor()
    expect(grid.problems.splice(0)).toContain(
      'Failed to load resource: the server responded with a status of 403 (Forbidden)',
    )
  })

  test('is shown when another person has deleted it', async () => {
    const { table, grid } = await openTypingInRecord()
    await deleteSecond(table)
    await message(grid, '“ctyped” was not saved. The record was deleted.')
    const notFound = 'Failed to load resource: the server responded with a status of 404 (Not Found)'
    expect(new Set(grid.problems.splice(0))).toEqual(new Set([notFound]))
  })
})
