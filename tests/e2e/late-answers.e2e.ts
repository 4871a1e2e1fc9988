import { describe, expect, test } from 'bun:test'
import { eventually, type GridPage, gridTests, type OpenTable, textOf } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'

const tests = gridTests()

const api = () => tests.app().trpc(tests.owner().token)

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Status', type: 'SingleSelect' as const, options: { choices: [{ title: 'Open' }] } },
]

/** Holds the answers to calls of one procedure back until the returned function is called. */
async function holdAnswers({ page }: GridPage, procedure: string): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route(`**/trpc/${procedure}*`, async (route) => {
    const response = await route.fetch()
    await released.promise
    await route.fulfill({ response })
  })
  return released.resolve
}

const optionsOf = async ({ tableId }: OpenTable): Promise<string[]> => {
  const { fields } = await api().schema.table.query({ tableId })
  const choices = fields.find(({ title }) => title === 'Status')?.options.choices as { title: string }[]
  return choices.map(({ title }) => title)
}

/** Types into the title of the second record while an answer is outstanding, and expects the text after it. */
async function expectTyping({ page, cell }: GridPage, answer: () => Promise<unknown>): Promise<void> {
  await cell(1, 'Title').click()
  await page.keyboard.type('hello')
  const input = page.getByTestId('cell-editor').getByRole('textbox')
  await input.waitFor()
  await answer()
  expect(await input.inputValue()).toBe('hello')
  await page.keyboard.type(' there')
  await page.keyboard.press('Enter')
  await eventually(
    () => textOf(cell(1, 'Title')),
    (text) => text === 'hello there',
  )
}

describe('an editor that is left before its request is answered', () => {
  test('does not close the next one: a record made in the picker of a single link', async () => {
    const library = await createLibrary(tests, ['Tolkien'], ['A', 'B'])
    await library.addLink('bt', 'Author')
    const grid = await tests.openTable(library.books)
    const release = await holdAnswers(grid, 'records.write')
    await grid.cell(0, 'Author').click()
    await grid.page.keyboard.type('Acme')
    await grid.page.getByTestId('create').click()
    await expectTyping(grid, async () => {
      release()
      await grid.cell(0, 'Author').getByText('Acme').waitFor()
      await grid.saved()
    })
  })

  test('does not write into the next one: an option made in a select', async () => {
    const table = await tests.createTable(FIELDS, [['A'], ['B']])
    const grid = await tests.openTable(table)
    const release = await holdAnswers(grid, 'schema.*')
    await grid.cell(0, 'Status').click()
    await grid.page.keyboard.type('Alpha')
    await grid.page.getByTestId('create-option').click()
    await grid.page.keyboard.press('Escape')
    const answers = [/schema\.addChoices/, /schema\.table/].map((call) => grid.page.waitForResponse(call))
    await expectTyping(grid, async () => {
      release()
      await Promise.all(answers)
      await grid.page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      )
    })
    expect(await optionsOf(table)).toEqual(['Open', 'Alpha'])
  })
})

describe('options made one after the other', () => {
  test('both stay while the first one is not answered yet', async () => {
    const table = await tests.createTable(FIELDS, [['A'], ['B']])
    const grid = await tests.openTable(table)
    const { page } = grid
    const release = await holdAnswers(grid, 'schema.*')
    for (const [row, title] of ['Alpha', 'Beta'].entries()) {
      await grid.cell(row, 'Status').click()
      await page.keyboard.type(title)
      await page.getByTestId('create-option').click()
      await page.keyboard.press('Escape')
    }
    release()
    const options = await eventually(
      () => optionsOf(table),
      (titles) => titles.includes('Beta'),
    )
    expect(options).toEqual(['Open', 'Alpha', 'Beta'])
  })
})

describe('a button whose request is not answered yet', () => {
  test('keeps the focus, and starts nothing twice', async () => {
    const grid = await tests.open(FIELDS, [['A']])
    const { page, calls } = grid
    await page.goto(`${tests.app().url}/#/account/profile`)
    const name = page.getByLabel('Display name')
    await name.fill('Ann Example')
    const save = page.getByRole('button', { name: 'Save' })
    const isFocused = () => save.evaluate((button) => button === document.activeElement)
    const release = await holdAnswers(grid, 'auth.updateProfile')
    await save.focus()
    await page.keyboard.press('Enter')
    await page.locator('button[aria-busy]').waitFor()
    await page.keyboard.press('Enter')
    expect([await isFocused(), await save.isDisabled()]).toEqual([true, true])
    await name.press('Enter')
    await save.focus()
    release()
    await page.getByText('Profile saved').waitFor()
    await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
    // Nothing is left to save.
    expect([await isFocused(), await save.isDisabled()]).toEqual([true, true])
    expect(calls.filter((call) => call === 'auth.updateProfile')).toHaveLength(1)
  })
})

describe('an unfinished new record', () => {
  test('is in the next view of its table as well', async () => {
    const table = await tests.createTable(
      [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Owner', type: 'SingleLineText', required: true },
      ],
      [['A', 'Ann']],
    )
    const view = await api().views.create.mutate({ tableId: table.tableId, title: 'Other', kind: 'grid' })
    const grid = await tests.openTable(table)
    const { page } = grid
    await page.getByTestId('add-record').click()
    await page.keyboard.type('draft')
    await page.keyboard.press('Enter')
    await grid.cell(0, 'Title').click()
    await page.locator('[data-testid="row"][data-state="failed"]').waitFor()
    await page.evaluate((id) => {
      location.hash = `${location.hash.split('/').slice(0, 4).join('/')}/${id}`
    }, view.id)
    await page
      .getByRole('heading', { name: 'Other' })
      .or(page.getByRole('tab', { name: 'Other' }))
      .first()
      .waitFor()
    await grid.shows('Title', ['A', 'draft'])
  })
})

test('a read whose connection is dead is given up, and asked again', async () => {
  const table = await tests.createTable(FIELDS, [['first']])
  const viewId = table.schema.views[0]?.id ?? ''
  const grid = await tests.openTable(table, tests.owner(), undefined, {
    viewId,
    prepare: (page) => page.clock.install(),
  })
  const { page } = grid
  await grid.shows('Title', ['first'])
  await page.waitForLoadState('networkidle')
  const lost = Promise.withResolvers<void>()
  await page.route('**/trpc/records.list*', () => lost.resolve(), { times: 1 })
  const titleId = table.schema.fields.find(({ title }) => title === 'Title')?.id ?? ''
  const { baseId, tableId } = table
  const write = (title: string) =>
    api().records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: { [titleId]: title } }] }] },
    })
  await write('second')
  await lost.promise
  await write('third')
  await page.clock.fastForward('01:31')
  await grid.shows('Title', ['first', 'second', 'third'])
})
