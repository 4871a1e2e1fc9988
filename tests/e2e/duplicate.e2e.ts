import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, textOf, untilCount } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'
import { see, tableLink } from './shell-page.ts'

const tests = gridTests()

const openTableMenu = (page: Page, title: string) =>
  page.getByRole('button', { name: `Options for table ${title}`, exact: true }).click()
const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Duplicate/ })
const duplicate = (page: Page) => dialog(page).getByRole('button', { name: 'Duplicate' }).click()

async function duplicateField(grid: GridPage, title: string): Promise<void> {
  const header = grid.page
    .getByRole('columnheader')
    .filter({ has: grid.page.getByText(title, { exact: true }) })
    .first()
  await header.hover()
  await header.getByTestId('header-menu').click()
  await item(grid.page, 'Duplicate field').click()
}

/** The texts of a column by its title, wherever it stands. */
const column = (grid: GridPage, title: string, rows: number) => async () => {
  const header = grid.page
    .getByRole('columnheader')
    .filter({ has: grid.page.getByText(title, { exact: true }) })
  const fieldId = await header.first().getAttribute('data-field')
  return Promise.all(
    Array.from({ length: rows }, async (_, row) =>
      (
        await textOf(grid.page.locator(`[role="gridcell"][data-row="${row}"][data-field="${fieldId}"]`))
      ).trim(),
    ),
  )
}
const reads = (grid: GridPage, title: string, wanted: string[]) =>
  eventually(column(grid, title, wanted.length), (texts) => texts.join('|') === wanted.join('|'))
const headers = async (grid: GridPage): Promise<string[]> =>
  (await grid.titles()).map((title) => title.trim()).filter((title) => title !== '')

describe('duplicating a table', () => {
  test('asks for a free name, says why one is refused, and opens the copy with its records and links', async () => {
    const library = await createLibrary(tests, ['Tolkien', 'Le Guin'], ['The Hobbit', 'The Dispossessed'])
    const link = await library.addLink('bt', 'Author')
    await library.link(link, 1, [1])
    await library.link(link, 2, [2])
    const grid = await tests.openTable(library.books)
    const { page } = grid
    await openTableMenu(page, 'Books')
    await item(page, 'Duplicate').click()
    const name = dialog(page).getByLabel('Name')
    expect(await name.inputValue()).toBe('Books copy')
    await see(dialog(page).getByText('The copy gets its own link fields'))
    await name.fill('authors')
    await see(dialog(page).getByText('A table with this name already exists'))
    await name.fill('a.b')
    await duplicate(page)
    await see(dialog(page).getByRole('alert').getByText('not allowed: .'))
    await name.fill('Library')
    await duplicate(page)
    await dialog(page).waitFor({ state: 'detached' })
    await see(page.getByText('“Library” is ready'))
    await see(tableLink(page, 'Library'))
    expect(page.url()).not.toContain(library.books.tableId)
    await untilCount(grid, '2 records')
    expect(await reads(grid, 'Author', ['Tolkien', 'Le Guin'])).toEqual(['Tolkien', 'Le Guin'])

    grid.problems.length = 0 // The browser notes each refusal.

    // One step undoes it, where the copy is on screen and after asking.
    await tableLink(page, 'Authors').click()
    expect(
      await eventually(
        () => headers(grid),
        (titles) => titles.includes('Libraries'),
      ),
    ).toContain('Libraries')
    await tableLink(page, 'Library').click()
    await untilCount(grid, '2 records')
    await page.locator('[role="columnheader"]').filter({ hasText: 'Author' }).waitFor()
    await page.keyboard.press('Control+z')
    await page
      .getByRole('dialog', { name: 'Undo “Create table Library”?' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await tableLink(page, 'Library').waitFor({ state: 'detached' })
    await tableLink(page, 'Authors').click()
    expect(
      await eventually(
        () => headers(grid),
        (titles) => titles.includes('Books') && !titles.includes('Libraries'),
      ),
    ).not.toContain('Libraries')
  })

  test('copies without records from the palette, shows that it goes on, and leaves nothing where it is cancelled', async () => {
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [['a'], ['b']])
    const grid = await tests.openTable(table)
    const { page } = grid
    const open = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('duplicate table')
      await see(page.getByRole('option', { name: 'Duplicate table', selected: true }))
      await page.keyboard.press('Enter')
    }
    await open()
    await dialog(page).getByLabel('Records').uncheck()
    await duplicate(page)
    await see(tableLink(page, 'Tasks copy'))
    await untilCount(grid, '0 records')

    await open()
    expect(await dialog(page).getByLabel('Name').inputValue()).toBe('Tasks copy copy')
    const engine = await tests.app().kernel.sources.engine(table.baseId)
    // Somebody else writes: the copy has to wait.
    await engine.exclusively(async () => {
      await duplicate(page)
      await see(dialog(page).getByText('Duplicating the table.'))
      await see(dialog(page).getByRole('button', { name: 'Continue in background' }))
      const cancelled = page.waitForResponse((answer) => answer.url().includes('jobs.cancel'))
      await dialog(page).getByRole('button', { name: 'Cancel' }).click()
      await cancelled
    })
    await dialog(page).waitFor({ state: 'detached' })
    expect(await tableLink(page, 'Tasks copy copy').count()).toBe(0)
  })
})

describe('duplicating a field', () => {
  test('puts the copy beside it, with its values or without; one undo takes it back', async () => {
    const library = await createLibrary(tests, ['Tolkien'], ['b', 'a'])
    await library.addField({ type: 'Number', title: 'Pages', options: {} })
    await library.addField({ type: 'Formula', title: 'Twice', options: { formula: '{Title} & {Title}' } })
    const grid = await tests.openTable(library.books)
    await duplicateField(grid, 'Title')
    await duplicate(grid.page)
    await see(grid.page.getByText('“Title copy” is ready'))
    expect(await reads(grid, 'Title copy', ['b', 'a'])).toEqual(['b', 'a'])
    expect(await headers(grid)).toEqual(['Title', 'Title copy', 'Pages', 'Twice'])

    // What is computed has nothing to ask for.
    await duplicateField(grid, 'Twice')
    await see(grid.page.getByText('“Twice copy” is ready'))
    expect(await reads(grid, 'Twice copy', ['bb', 'aa'])).toEqual(['bb', 'aa'])
    await grid.page.keyboard.press('Control+z')
    await grid.page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    expect(
      await eventually(
        () => headers(grid),
        (titles) => titles.length === 4,
      ),
    ).toEqual(['Title', 'Title copy', 'Pages', 'Twice'])

    await duplicateField(grid, 'Title')
    await dialog(grid.page).getByLabel('Include values').uncheck()
    await duplicate(grid.page)
    await see(grid.page.getByText('“Title copy_1” is ready'))
    expect(await reads(grid, 'Title copy_1', ['', ''])).toEqual(['', ''])
  })

  test('is not offered to those who may not change fields', async () => {
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }])
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const { page } = await tests.openTable(table, editor)
    await openTableMenu(page, 'Tasks')
    await see(item(page, 'Relations'))
    expect(await item(page, 'Duplicate').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader').filter({ hasText: 'Title' }).click({ button: 'right' })
    await see(item(page, 'Fit to content'))
    expect(await item(page, 'Duplicate field').count()).toBe(0)
  })
})

describe('copying a table to another base', () => {
  test('previews what becomes values, opens the copy, and moves the original to the trash on request', async () => {
    const library = await createLibrary(tests, ['Tolkien'], ['The Hobbit'])
    const link = await library.addLink('bt', 'Author')
    await library.link(link, 1, [1])
    const api = tests.app().trpc(tests.owner().token)
    const { baseId } = library.books
    const other = await api.bases.create.mutate({ title: 'Archive' })
    const { tableId } = library.books
    await api.comments.create.mutate({ tableId, recordId: 1, text: 'A classic' })
    await api.hooks.create.mutate({
      tableId,
      title: 'Tell the shop',
      event: 'manual',
      operations: [],
      channel: { type: 'URL', payload: { path: 'https://example.com/books' } },
    })
    const grid = await tests.openTable(library.books)
    const { page } = grid
    const { title } = library.books.schema.table
    await openTableMenu(page, title)
    await item(page, 'Copy to base…').click()
    const copying = page.getByRole('dialog', { name: `Copy “${title}” to a base` })
    await see(copying.getByText('become their values: Author'))
    expect(await copying.getByLabel('Include 1 comment').isChecked()).toBe(true)
    expect(await copying.getByLabel('Include 1 webhook').isChecked()).toBe(false)
    await copying.getByLabel('Base').selectOption({ label: 'Archive' })
    await copying.getByRole('button', { name: 'Copy', exact: true }).click()
    await see(page.getByText(`“${title}” is ready`))
    await page.waitForFunction((id) => location.hash.includes(id), other.id)
    const [copy] = await api.schema.tables.query({ baseId: other.id })
    const { fields } = await api.schema.table.query({ tableId: copy?.id ?? '' })
    expect(fields.find((field) => field.title === 'Author')?.type).toBe('LongText')

    await page.evaluate((hash) => {
      location.hash = hash
    }, `/nc/${baseId}/${library.books.tableId}`)
    await openTableMenu(page, title)
    await item(page, 'Move to base…').click()
    const moving = page.getByRole('dialog', { name: `Move “${title}” to a base` })
    await moving.getByLabel('Base').selectOption({ label: 'Archive' })
    expect(await moving.getByLabel('Include 1 webhook').isChecked()).toBe(true)
    await moving.getByRole('button', { name: 'Move', exact: true }).click()
    // The screen of the moved table closes, and the dialog with it; a message offers to open the copy.
    await see(page.getByText(`“${title}” is ready`).last())
    await moving.waitFor({ state: 'detached' })
    expect((await api.schema.tables.query({ baseId })).map(({ id }) => id)).not.toContain(
      library.books.tableId,
    )
    expect((await api.schema.tables.query({ baseId, trash: true })).map(({ id }) => id)).toContain(
      library.books.tableId,
    )
    const moved = (await api.schema.tables.query({ baseId: other.id })).find(({ id }) => id !== copy?.id)
    const { comments } = await api.comments.list.query({ tableId: moved?.id ?? '', recordId: 1 })
    expect(comments.map(({ text }) => text)).toEqual(['A classic'])
    expect(await api.hooks.list.query({ tableId: moved?.id ?? '' })).toMatchObject([
      { title: 'Tell the shop' },
    ])
    // The browser may have asked for the table while it went.
    grid.problems.splice(0)
  })
})
