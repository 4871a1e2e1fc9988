import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, type OpenTable } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Notes', type: 'LongText' as const },
]

/** Two people who have the same record open. */
async function openTwo(notes: string) {
  const table = await tests.createTable(FIELDS, [['Alpha', notes]])
  const member = await createMember(tests.app(), table.baseId, 'editor')
  return { table, mine: await tests.openTable(table), theirs: await tests.openTable(table, member) }
}

const fieldId = (table: OpenTable, title: string) =>
  table.schema.fields.find((field) => field.title === title)!.id

async function stored({ tableId, schema }: OpenTable): Promise<unknown> {
  const { values } = await tests.app().trpc(tests.owner().token).records.get.query({ tableId, recordId: 1 })
  return values[schema.fields.find((field) => field.title === 'Notes')!.id]
}

const becomes = async (table: OpenTable, text: string) =>
  expect(
    await eventually(
      () => stored(table),
      (now) => now === text,
    ),
  ).toBe(text)

/** Writes the text as another program does. */
const writeNotes = ({ baseId, tableId, schema }: OpenTable, text: string) => {
  const notes = schema.fields.find((field) => field.title === 'Notes')!.id
  const rows = [{ id: 1, values: { [notes]: text } }]
  const change = { baseId, operations: [{ kind: 'update' as const, tableId, rows }] }
  return tests.app().trpc(tests.owner().token).records.write.mutate({ change })
}

async function openEditor({ page, cell }: GridPage): Promise<void> {
  await cell(0, 'Notes').click()
  await page.keyboard.press('Enter')
  await page.getByTestId('cell-editor').locator('textarea').waitFor()
}

/** Chromium reports each answer of 409 in its console. */
function expectConflicts({ problems }: GridPage, count: number): void {
  expect(problems.splice(0)).toEqual(
    Array(count).fill('Failed to load resource: the server responded with a status of 409 (Conflict)'),
  )
}

const panelText = ({ page }: GridPage) =>
  page.getByTestId('record-panel').getByRole('textbox', { name: 'Notes' })

async function openRecord({ page, cell }: GridPage): Promise<void> {
  await cell(0, 'Title').click()
  await page.keyboard.press('Space')
}

describe('two people who edit one long text', () => {
  test('keep both edits where these do not overlap, in the grid', async () => {
    const { table, mine, theirs } = await openTwo('The cat sat')
    await openEditor(mine)
    await openEditor(theirs)
    await theirs.page.keyboard.press('Home')
    await theirs.page.keyboard.type('Today: ')
    await mine.page.keyboard.type(' down')
    await theirs.page.keyboard.press('Enter')
    await becomes(table, 'Today: The cat sat')
    // The open editor keeps its text and says what will happen.
    await mine.page.getByTestId('cell-note').getByText('Both edits are merged').waitFor()
    expect(await mine.page.getByTestId('cell-editor').locator('textarea').inputValue()).toBe(
      'The cat sat down',
    )
    await mine.page.keyboard.press('Enter')
    await becomes(table, 'Today: The cat sat down')
    await mine.page.getByText('Both edits were merged').waitFor()
    await mine.shows('Notes', ['Today: The cat sat down'])
    await theirs.shows('Notes', ['Today: The cat sat down'])
    expectConflicts(mine, 1)
  })

  test('ask with both versions where they overlap, and save what is chosen', async () => {
    const { table, mine } = await openTwo('one\ntwo\nthree')
    await openRecord(mine)
    for (const [button, result] of [
      ['Keep theirs', 'one!\nzwei\nthree'],
      ['Keep mine', 'one!\ndeux\nthree'],
      ['Save merged text', 'edited'],
    ] as const) {
      await writeNotes(table, 'one\ntwo\nthree')
      await eventually(
        () => panelText(mine).inputValue(),
        (text) => text === 'one\ntwo\nthree',
      )
      await panelText(mine).click()
      await writeNotes(table, 'one!\nzwei\nthree')
      await mine.page.getByTestId('record-panel').getByText('Both edits are merged').waitFor()
      await panelText(mine).fill('one\ndeux\nthree')
      await mine.page.getByTestId('record-panel').getByRole('textbox', { name: 'Title' }).click()
      const dialog = mine.page.getByRole('dialog')
      await dialog.waitFor()
      expect(await dialog.getByTestId('version-mine').locator('mark').allTextContents()).toEqual(['deux'])
      expect(await dialog.getByTestId('version-theirs').locator('mark').allTextContents()).toEqual(['zwei'])
      expect(await stored(table)).toBe('one!\nzwei\nthree')
      if (result === 'edited') await dialog.getByRole('textbox', { name: 'Merged text' }).fill('edited')
      await dialog.getByRole('button', { name: button }).click()
      await becomes(table, result)
      await dialog.waitFor({ state: 'detached' })
      expectConflicts(mine, 1)
    }
  })

  test('lose nothing by leaving a field that another person changed and they did not', async () => {
    const { table, mine } = await openTwo('one')
    await openRecord(mine)
    await panelText(mine).click()
    await writeNotes(table, 'two')
    await mine.page.getByTestId('record-panel').getByText('Both edits are merged').waitFor()
    mine.calls.length = 0
    await mine.page.getByTestId('record-panel').getByRole('textbox', { name: 'Title' }).click()
    await eventually(
      () => panelText(mine).inputValue(),
      (text) => text === 'two',
    )
    expect(mine.writes()).toEqual([])
    expect(await stored(table)).toBe('two')
  })

  test('merge an edit that was made without a connection', async () => {
    const { table, mine } = await openTwo('one\ntwo')
    await mine.context.setOffline(true)
    await openEditor(mine)
    await mine.page.keyboard.type(' and more')
    await mine.page.keyboard.press('Enter')
    await writeNotes(table, 'ONE\ntwo')
    await mine.context.setOffline(false)
    await becomes(table, 'ONE\ntwo and more')
    mine.problems.length = 0
  })

  test('are asked about other values as before', async () => {
    const { table, mine } = await openTwo('one')
    const title = fieldId(table, 'Title')
    await mine.cell(0, 'Title').click()
    await mine.page.keyboard.press('Enter')
    await mine.page.keyboard.type(' mine')
    const rows = [{ id: 1, values: { [title]: 'theirs' } }]
    const { baseId, tableId } = table
    const change = { baseId, operations: [{ kind: 'update' as const, tableId, rows }] }
    await tests.app().trpc(tests.owner().token).records.write.mutate({ change })
    await mine.page.getByTestId('cell-note').getByText('You choose when you save').waitFor()
    await mine.page.keyboard.press('Enter')
    await mine.page.getByRole('button', { name: 'Keep theirs' }).click()
    await mine.shows('Title', ['theirs'])
  })

  test('are asked about options that both have ticked, and not about their own', async () => {
    const choices = ['a', 'b', 'c', 'd'].map((title) => ({ title }))
    const tags = { title: 'Tags', type: 'MultiSelect' as const, options: { choices } }
    const table = await tests.createTable([FIELDS[0]!, tags], [['Alpha', 'a']])
    const mine = await tests.openTable(table)
    const { page } = mine
    const { baseId, tableId } = table
    const id = fieldId(table, 'Tags')
    const api = tests.app().trpc(tests.owner().token)
    await openRecord(mine)
    const panel = page.getByTestId('record-panel')
    await panel.locator(`[data-testid="record-field"][data-field="${id}"]`).getByRole('button').click()
    const option = (title: string) => page.getByTestId('option').filter({ hasText: title })
    const hint = panel.getByText('You choose when you save')
    await option('c').click()
    await mine.saved()
    expect(await hint.count()).toBe(0)
    const rows = [{ id: 1, values: { [id]: 'a,c,b' } }]
    const operations = [{ kind: 'update' as const, tableId, rows }]
    await api.records.write.mutate({ change: { baseId, operations } })
    await hint.waitFor()
    await option('d').click()
    await page.getByRole('button', { name: 'Keep theirs' }).click()
    const { values } = await api.records.get.query({ tableId, recordId: 1 })
    expect(values[id]).toBe('a,c,b')
  })
})
