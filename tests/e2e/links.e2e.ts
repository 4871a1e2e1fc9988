import { describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { eventually, type GridPage, gridTests, textOf } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'

const tests = gridTests()

const AUTHORS = ['Tolkien', 'Le Guin', 'Christie', 'Sayers', null]

const options = (grid: GridPage) => grid.page.getByRole('option')
const focusIsInGrid = (grid: GridPage) =>
  grid.page.evaluate(() => document.activeElement?.closest('[data-grid]') !== null)
const cellReads = (grid: GridPage, row: number, title: string, text: string) =>
  eventually(
    () => textOf(grid.cell(row, title)),
    (now) => now === text,
  )

describe('the picker of links', () => {
  test('opens searching by a letter, links with Enter, stays open, and gives the focus back', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B'])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.page.keyboard.type('chr')
    await options(grid).filter({ hasText: 'Christie' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await grid.page.getByText('1 linked').waitFor()
    await grid.page.keyboard.press('Escape')
    expect(await grid.page.getByRole('listbox').count()).toBe(0)
    expect(await focusIsInGrid(grid)).toBe(true)
    expect(await textOf(grid.cell(0, 'Authors'))).toBe('Christie')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    expect(readLinks(await library.read(link, 1)).records).toEqual([{ id: 3, title: 'Christie' }])
  })

  test('chooses what was typed, also where Enter comes ahead of the answer', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.page.route('**/trpc/records.link*', async (route) => {
      await Bun.sleep(150)
      await route.continue()
    })
    await grid.cell(0, 'Authors').click()
    await grid.page.keyboard.press('Enter')
    await options(grid).first().waitFor()
    await grid.page.keyboard.type('say')
    await grid.page.keyboard.press('Enter')
    expect(await cellReads(grid, 0, 'Authors', 'Sayers')).toBe('Sayers')
    await grid.untilWritten(['records.write'])
  })

  test('changes nothing where one only looks: Enter, Enter', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(link, 1, [1, 2])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.page.keyboard.press('Enter')
    await options(grid).nth(3).waitFor()
    await grid.page.keyboard.press('Enter')
    expect(await grid.page.getByRole('listbox').count()).toBe(0)
    expect(await textOf(grid.cell(0, 'Authors'))).toBe('TolkienLe Guin')
    expect(grid.writes()).toEqual([])
  })

  test('walks with the arrows; a line keeps its place as it is linked and unlinked', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(link, 1, [2])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').dblclick()
    await options(grid).nth(4).waitFor()
    // An author without a name is called by the number.
    const before = ['Le Guin', 'Tolkien', 'Christie', 'Sayers', 'Record 5']
    const names = async () => {
      const texts = await options(grid).allTextContents()
      return texts.map((text) => before.find((name) => text.startsWith(name)))
    }
    expect(await names()).toEqual(before)
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await grid.page.keyboard.press(key)
    await grid.page.getByText('2 linked').waitFor()
    expect(await names()).toEqual(before)
    await grid.page.keyboard.press('Enter')
    await grid.page.getByText('1 linked').waitFor()
    await grid.page.keyboard.press('Tab')
    expect(await grid.page.getByRole('listbox').count()).toBe(0)
  })

  test('closes when the one record that a single link has is chosen', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('bt', 'Author')
    await library.link(link, 1, [1])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Author').dblclick()
    await options(grid).filter({ hasText: 'Christie' }).click()
    expect(await grid.page.getByRole('listbox').count()).toBe(0)
    expect(await focusIsInGrid(grid)).toBe(true)
    expect(await cellReads(grid, 0, 'Author', 'Christie')).toBe('Christie')
    await grid.page.keyboard.press('ControlOrMeta+z')
    expect(await cellReads(grid, 0, 'Author', 'Tolkien')).toBe('Tolkien')
  })

  test('makes a record of what was searched for and links it, as one step for undo', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.page.keyboard.type('Pratchett')
    await grid.page.getByTestId('create').click()
    await grid.page.getByText('1 linked').waitFor()
    await grid.page.keyboard.press('Escape')
    await grid.saved()
    expect(readLinks(await library.read(link, 1)).records).toEqual([{ id: 6, title: 'Pratchett' }])
    await grid.page.keyboard.press('ControlOrMeta+z')
    expect(await cellReads(grid, 0, 'Authors', '')).toBe('')
  })

  test('links in a record that is not saved yet', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.page.keyboard.press('Alt+r')
    await grid.cell(1, 'Authors').dblclick()
    await options(grid).filter({ hasText: 'Tolkien' }).click()
    await grid.page.getByText('1 linked').waitFor()
    await options(grid).filter({ hasText: 'Sayers' }).click()
    await grid.page.getByText('2 linked').waitFor()
    await grid.page.keyboard.press('Escape')
    await grid.saved()
    expect(await cellReads(grid, 1, 'Authors', 'TolkienSayers')).toBe('TolkienSayers')
    expect(readLinks(await library.read(link, 2)).count).toBe(2)
  })

  test('reads on at the end of the list, and says when there is nothing', async () => {
    const names = Array.from({ length: 75 }, (_, at) => `Author ${at + 1}`)
    const library = await createLibrary(tests, names, ['A'])
    await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').dblclick()
    await options(grid).nth(29).waitFor()
    for (let page = 0; page < 3; page++) {
      await grid.page.getByRole('listbox').evaluate((list) => list.scrollTo(0, list.scrollHeight))
      await grid.page.waitForTimeout(300)
    }
    await options(grid).nth(74).waitFor()
    await grid.page.keyboard.type('zzz')
    await grid.page.getByText('New Author “zzz”').waitFor()
    expect(await options(grid).count()).toBe(1)
  })

  test('says that the records could not be read, and tries again', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.page.route('**/trpc/records.link*', (route) => route.abort())
    await grid.cell(0, 'Authors').dblclick()
    await grid.page.getByText('Records could not be loaded.').waitFor()
    await grid.page.unroute('**/trpc/records.link*')
    await grid.page.getByRole('button', { name: 'Try again' }).click()
    await options(grid).nth(4).waitFor()
    grid.problems.length = 0
  })

  test('takes a tick back where the server refuses the link', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').dblclick()
    await options(grid).filter({ hasText: 'Sayers' }).waitFor()
    const api = tests.app().trpc(tests.owner().token)
    const operations = [{ kind: 'delete' as const, tableId: library.authors.tableId, ids: [4] }]
    await api.records.write.mutate({ change: { baseId: library.baseId, operations } })
    await options(grid).filter({ hasText: 'Sayers' }).click()
    await grid.page.getByText('No changes saved.').waitFor()
    await grid.page.getByText('0 linked').waitFor()
    expect(await grid.page.getByTestId('linked').count()).toBe(0)
    grid.problems.length = 0
  })

  test('gives many records the same links from the bar of checked records', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B', 'C'])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.page.getByTestId('check-all').check()
    await grid.page.getByRole('button', { name: /^Edit/ }).click()
    await grid.page.getByRole('dialog').getByLabel('Field').selectOption({ label: 'Authors' })
    await grid.page.getByTestId('add-link').click()
    await options(grid).filter({ hasText: 'Tolkien' }).click()
    await options(grid).filter({ hasText: 'Sayers' }).click()
    await grid.page.getByText('2 linked').waitFor()
    await grid.page.keyboard.press('Escape')
    await grid.page.getByRole('button', { name: 'Change 3 records' }).click()
    expect(await cellReads(grid, 2, 'Authors', 'TolkienSayers')).toBe('TolkienSayers')
    expect(readLinks(await library.read(link, 2)).count).toBe(2)
  })

  test('stays on the screen of a telephone', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.page.setViewportSize({ width: 390, height: 844 })
    await grid.page.goto(`${grid.page.url()}?rowId=1`)
    await grid.page.getByTestId('add-link').click()
    await options(grid).first().waitFor()
    await eventually(
      () => grid.page.getByRole('listbox').boundingBox(),
      (box) => box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844,
    )
    const box = await grid.page.getByRole('listbox').boundingBox()
    expect(box?.x).toBeGreaterThanOrEqual(0)
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390)
    expect((box?.y ?? 0) + (box?.height ?? 999)).toBeLessThanOrEqual(844)
  })

  test('shows at once what somebody else links', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Title').click()
    await library.link(link, 1, [4, 2])
    expect(await cellReads(grid, 0, 'Authors', 'Le GuinSayers')).toBe('Le GuinSayers')
  })
})

describe('an open record', () => {
  test('lists its linked records with a few values, adds to them and takes away', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('mm', 'Authors')
    await library.addField({
      type: 'Count',
      title: 'How many',
      options: { relationFieldId: link.id },
    })
    await library.link(link, 1, [1])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('Space')
    const list = grid.page.getByTestId('linked-list')
    await list.getByText('1900').waitFor()
    await list.getByTestId('add-link').click()
    await grid.page.keyboard.type('christie')
    await grid.page.keyboard.press('Enter')
    await grid.page.keyboard.press('Escape')
    // One layer: the record is open still, and the focus is where it came from.
    await list.getByTestId('add-link').waitFor()
    await list.getByText('1902').waitFor()
    await eventually(
      () => textOf(grid.page.locator('[data-testid="record-field"]').filter({ hasText: 'How many' })),
      (text) => text.endsWith('2'),
    )
    await list.getByRole('button', { name: 'Unlink Tolkien' }).press('Enter')
    expect(await cellReads(grid, 0, 'Authors', 'Christie')).toBe('Christie')
    // The focus is on the record that follows, and after the last one where records are added.
    await grid.page.waitForFunction(() => document.activeElement?.textContent.startsWith('Christie'))
    await grid.page.keyboard.press('Tab')
    await grid.page.keyboard.press('Enter')
    await grid.page.waitForFunction(() => document.activeElement?.getAttribute('data-testid') === 'add-link')
    await grid.page.getByRole('tab', { name: 'History' }).click()
    await grid.page.getByText('linked Christie', { exact: true }).waitFor()
    await grid.page.getByText('unlinked Tolkien', { exact: true }).waitFor()
  })

  test('keeps the focus where the next record of many takes the place of one that is taken away', async () => {
    const names = Array.from({ length: 1_012 }, (_, at) => `Author ${at + 1}`)
    const library = await createLibrary(tests, names, ['A'])
    const link = await library.addLink('mm', 'Authors')
    const all = names.map((_, at) => at + 1)
    await library.link(link, 1, all)
    const grid = await tests.openTable(library.books)
    const isCounted = (text: string) => /\+1,0\d\d$/.test(text)
    expect(await eventually(() => textOf(grid.cell(0, 'Authors')), isCounted)).toMatch(/\+1,0\d\d$/)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('Space')
    const list = grid.page.getByTestId('linked-list')
    await list.getByText('1909').waitFor()
    await list.getByRole('button', { name: 'Unlink Author 3' }).press('Enter')
    await list.getByText('1910').waitFor()
    await grid.page.waitForFunction(() => document.activeElement?.textContent.startsWith('Author 4'))
  })

  test('opens a linked record at its own table', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A'])
    const link = await library.addLink('bt', 'Author')
    await library.link(link, 1, [2])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('Space')
    await grid.page.getByTestId('linked-line').getByRole('button').first().click()
    await grid.page.getByRole('heading', { name: 'Le Guin' }).waitFor()
    expect(grid.page.url()).toContain(`${library.authors.tableId}?rowId=2`)
  })
})
