import { describe, expect, test } from 'bun:test'
import { eventually, type GridPage, gridTests, textOf, untilCount } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'
import { tableLink } from './shell-page.ts'

const tests = gridTests()

const AUTHORS = ['Tolkien', 'Le Guin', 'Christie', 'Sayers']

const choose = async (grid: GridPage, label: string, line: string) => {
  await grid.page.getByTestId('field-editor').getByLabel(label, { exact: true }).click()
  await grid.page.keyboard.type(line)
  await grid.page.getByRole('option', { name: line, exact: true }).waitFor()
  await grid.page.keyboard.press('Enter')
}
const newField = async (grid: GridPage, type: string) => {
  await grid.page.keyboard.press('Alt+c')
  await grid.page.getByTestId('field-type').click()
  await grid.page.keyboard.type(type)
  await grid.page.keyboard.press('Enter')
}
const save = (grid: GridPage) =>
  grid.page
    .getByTestId('field-editor')
    .getByRole('button', { name: /^(Add|Save) field$/ })
    .click()
const columnTexts = (grid: GridPage, title: string, count: number) => async () => {
  const at = await grid.page
    .getByRole('columnheader')
    .filter({ hasText: title })
    .first()
    .getAttribute('data-field')
  const texts: string[] = []
  for (let row = 0; row < count; row++) {
    texts.push(await textOf(grid.page.locator(`[role="gridcell"][data-row="${row}"][data-field="${at}"]`)))
  }
  return texts
}
const columnReads = (grid: GridPage, title: string, wanted: string[]) =>
  eventually(columnTexts(grid, title, wanted.length), (texts) => texts.join('|') === wanted.join('|'))
const openMenu = async (grid: GridPage, title: string) => {
  const header = grid.page.getByRole('columnheader').filter({ hasText: title }).first()
  await header.hover()
  await header.getByTestId('header-menu').click()
}

describe('the editor of computed fields', () => {
  test('makes a link, which shows in the other table too, and a rollup and a lookup of it', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B'])
    const grid = await tests.openTable(library.books)
    await newField(grid, 'Lookup')
    await grid.page.getByRole('button', { name: 'Add a link field' }).click()
    await choose(grid, 'Table', 'Authors')
    await grid.page
      .getByText('Each Books record links to many Authors records, and the other way round.')
      .waitFor()
    await save(grid)
    await grid.page.getByRole('columnheader').filter({ hasText: 'Authors' }).waitFor()
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('ArrowRight')
    await grid.page.keyboard.type('chr')
    await grid.page.keyboard.press('Enter')
    await grid.page.keyboard.press('Escape')

    expect(await columnReads(grid, 'Authors', ['Christie'])).toEqual(['Christie'])
    expect(
      await eventually(
        () => grid.page.getByRole('listbox').count(),
        (n) => n === 0,
      ),
    ).toBe(0)

    await newField(grid, 'Rollup')
    await choose(grid, 'Link', 'Authors')
    await choose(grid, 'Field', 'Born')
    // Of numbers one wants the sum.
    expect(await grid.page.getByLabel('Aggregation').inputValue()).toBe('sum')
    await grid.page.getByLabel('Thousands separator').check()
    await save(grid)
    expect(await columnReads(grid, 'Rollup', ['1,902', '0'])).toEqual(['1,902', '0'])

    await openMenu(grid, 'Authors')
    await grid.page.getByText('Add lookup of Authors').click()
    await choose(grid, 'Field', 'Genre')
    await save(grid)
    expect(await columnReads(grid, 'Lookup', ['Fantasy', ''])).toEqual(['Fantasy', ''])

    await openMenu(grid, 'Authors')
    await grid.page.getByText('Open linked table').click()
    await grid.page.getByRole('columnheader').filter({ hasText: 'Books' }).waitFor()
    expect(await columnReads(grid, 'Books', ['', '', 'A'])).toEqual(['', '', 'A'])
  })

  test('says what a broken field misses, in its cells and in its editor, where it is mended', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    const born = library.fieldOf(library.authors, 'Born')
    await library.addField({
      type: 'Lookup',
      title: 'Years',
      options: { relationFieldId: link.id, targetFieldId: born },
    })
    await library.link(link, 1, [1])
    const grid = await tests.openTable(library.books)
    await tests.app().trpc(tests.owner().token).schema.deleteField.mutate({ fieldId: born })
    const says = ["Column 'Born' was deleted"]
    expect(await columnReads(grid, 'Years', says)).toEqual(says)
    const header = grid.page.getByRole('columnheader').filter({ hasText: 'Years' })
    expect(await header.getAttribute('title')).toContain("Column 'Born' was deleted")
    await openMenu(grid, 'Years')
    await grid.page.getByText('Edit field').click()
    await grid.page.getByTestId('field-editor').getByText("Column 'Born' was deleted").waitFor()
    await choose(grid, 'Field', 'Name')
    await save(grid)
    expect(await columnReads(grid, 'Years', ['Tolkien'])).toEqual(['Tolkien'])
  })

  test('shows all values of a lookup in a list, by Enter, and gives the focus back', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    await library.addField({
      type: 'Lookup',
      title: 'Years',
      options: { relationFieldId: link.id, targetFieldId: library.fieldOf(library.authors, 'Born') },
    })
    await library.link(link, 1, [1, 2, 3, 4])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Years').click()
    await grid.page.keyboard.press('Enter')
    await grid.page.getByTestId('list-dialog').waitFor()
    expect(await grid.page.getByTestId('list-dialog').locator('li').allTextContents()).toEqual([
      '1900',
      '1901',
      '1902',
      '1903',
    ])
    await grid.page.keyboard.press('Escape')
    await grid.page.keyboard.press('ArrowLeft')
    await grid.page.keyboard.press('Enter')
    await grid.page.getByRole('listbox').waitFor()
  })

  test('hides the key that a link is kept in', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    await library.addLink('bt', 'Author')
    const grid = await tests.openTable(library.books)
    expect(await grid.titles()).toEqual(['Title', 'Author'])
    await grid.page.getByTestId('fields-button').click()
    const items = grid.page.getByTestId('fields-menu-item')
    await items.first().waitFor()
    expect(await items.count()).toBeGreaterThan(3)
  })
})

describe('filters, sorts and summaries of computed fields', () => {
  async function openLibrary() {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B', 'C'])
    const many = await library.addLink('mm', 'Authors')
    const one = await library.addLink('bt', 'Author')
    const target = (title: string) => library.fieldOf(library.authors, title)
    await library.addField({
      type: 'Lookup',
      title: 'Genre',
      options: { relationFieldId: one.id, targetFieldId: target('Genre') },
    })
    await library.addField({
      type: 'Rollup',
      title: 'Latest',
      options: { relationFieldId: many.id, targetFieldId: target('Born'), function: 'max' },
    })
    await library.addField({
      type: 'QrCode',
      title: 'Code',
      options: { valueFieldId: library.fieldOf(library.books, 'Title') },
    })
    await library.link(many, 1, [1, 2])
    await library.link(many, 2, [4])
    await library.link(one, 1, [1])
    await library.link(one, 2, [2])
    return tests.openTable(library.books)
  }
  const where = async (grid: GridPage, field: string, operator: string) => {
    await grid.page.getByLabel('Field', { exact: true }).selectOption({ label: field })
    await grid.page.getByLabel('Operator').selectOption({ label: operator })
  }

  test('compare links by their number, single ones by name, lookups and rollups as what they show', async () => {
    const grid = await openLibrary()
    await grid.page.getByTestId('filter-button').click()
    await grid.page.getByText('Add condition').click()
    const fields = await grid.page.getByLabel('Field', { exact: true }).locator('option').allTextContents()
    expect(fields).not.toContain('Code')
    expect(fields).toContain('Author')
    await where(grid, 'Authors', '>')
    await grid.page.getByLabel('Value').fill('1')
    expect(await untilCount(grid, '1 record')).toBe('1 record')
    await where(grid, 'Author', 'contains')
    await grid.page.getByLabel('Value').fill('guin')
    expect(await columnReads(grid, 'Title', ['B'])).toEqual(['B'])
    await where(grid, 'Latest', '>')
    await grid.page.getByLabel('Value').fill('1902')
    expect(await columnReads(grid, 'Title', ['B'])).toEqual(['B'])
    // The options of the field that is looked up are there to choose from.
    await grid.page.getByLabel('Field', { exact: true }).selectOption({ label: 'Genre' })
    await grid.page.getByLabel('Choose a value').click()
    await grid.page.getByRole('radio').first().click()
    expect(await columnReads(grid, 'Title', ['A'])).toEqual(['A'])
    await grid.page.keyboard.press('Escape')
  })

  test('say in the menus what they can', async () => {
    const grid = await openLibrary()
    await openMenu(grid, 'Latest')
    await grid.page.getByText('Sort 9 → 1').click()
    expect(await columnReads(grid, 'Title', ['B', 'A', 'C'])).toEqual(['B', 'A', 'C'])
    await openMenu(grid, 'Authors')
    await grid.page.getByText('Sort 1 → 9').waitFor()
    await grid.page.keyboard.press('Escape')
    await openMenu(grid, 'Code')
    await grid.page.getByText('Hide field').waitFor()
    expect(await grid.page.getByText('Filter by this field').count()).toBe(0)
    await grid.page.keyboard.press('Escape')
    await openMenu(grid, 'Latest')
    await grid.page.getByRole('menuitem', { name: 'Summary' }).click()
    await grid.page.getByRole('menu').getByText('Sum', { exact: true }).click()
    await grid.page.getByText('3,804').waitFor()
  })
})

test('a table that changed while another was on the screen is read anew before its records are', async () => {
  const { authors, books, fieldOf } = await createLibrary(tests, AUTHORS, ['The Hobbit'])
  const { page } = await tests.openTable(authors)
  await tableLink(page, 'Books').click()
  await page.getByRole('columnheader').filter({ hasText: 'Title' }).waitFor()
  const isOutdated = page.waitForRequest((request) => request.url().includes('schema.tables'))
  await tests
    .app()
    .trpc(tests.owner().token)
    .schema.deleteField.mutate({ fieldId: fieldOf(authors, 'Born') })
  await isOutdated
  // A slow network: the schema takes its time, and the page asks for nothing that is gone.
  await page.route(/schema\.table\?|schema\.table,|,schema\.table/, async (route) => {
    await Bun.sleep(400)
    await route.continue()
  })
  await tableLink(page, 'Authors').click()
  await page.getByRole('columnheader').filter({ hasText: 'Name' }).waitFor()
  expect(await page.getByRole('columnheader').filter({ hasText: 'Born' }).count()).toBe(0)
  expect(page.url()).not.toContain(books.tableId)
})
