import { describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createForeign, jobEnd } from '../sources/support.ts'
import { createBase } from '../support/factories.ts'
import { clipboardOf, copied, eventually, type GridPage, gridTests, textOf } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'

const tests = gridTests()

const AUTHORS = ['Tolkien', 'Le Guin', 'Christie', 'Sayers', 'Twin', 'Twin', 'Last, First']
const MANY = Array.from({ length: 40 }, (_, at) => `Author ${at + 1}`)

const press = (grid: GridPage, keys: string) => grid.page.keyboard.press(keys)
const cellReads = (grid: GridPage, row: number, title: string, text: string) =>
  eventually(
    () => textOf(grid.cell(row, title)),
    (now) => now === text,
  )
/** Copies, which the grid says as well. */
async function expectCopy(grid: GridPage, plain: string): Promise<void> {
  expect((await copied(grid.page)).plain).toBe(plain)
  await grid.page
    .getByText(/\d cells? copied/)
    .first()
    .waitFor()
}

describe('links on the clipboard', () => {
  test('are names for others and the records themselves for us; undo takes a paste back', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B', 'C'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(link, 1, [1, 5])
    await library.link(link, 3, [3])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await expectCopy(grid, 'Tolkien, Twin')
    expect((await clipboardOf(grid.page)).html).toContain('<td>Tolkien, Twin</td>')
    await grid.cell(1, 'Authors').click()
    await grid.cell(2, 'Authors').click({ modifiers: ['Shift'] })
    await press(grid, 'ControlOrMeta+v')
    expect(await cellReads(grid, 2, 'Authors', 'TolkienTwin')).toBe('TolkienTwin')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    // By text the two of one name could not be told apart.
    expect(readLinks(await library.read(link, 2)).records.map(({ id }) => id)).toEqual([1, 5])
    expect(readLinks(await library.read(link, 3)).records.map(({ id }) => id)).toEqual([1, 5])
    await press(grid, 'ControlOrMeta+z')
    expect(await cellReads(grid, 2, 'Authors', 'Christie')).toBe('Christie')
    expect(await cellReads(grid, 1, 'Authors', '')).toBe('')
  })

  test('are all copied with ticked records', async () => {
    const library = await createLibrary(tests, MANY, ['A', 'B'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(
      link,
      1,
      MANY.slice(0, 25).map((_, at) => at + 1),
    )
    const grid = await tests.openTable(library.books)
    await grid.page.locator('[data-part="rowNumber"][data-row="0"]').hover()
    await grid.page.locator('[data-part="rowCheck"][data-row="0"]').click()
    await grid.page.getByTestId('bulk-bar').getByRole('button', { name: 'Copy', exact: true }).click()
    await grid.page.getByText('1 record copied').waitFor()
    expect((await clipboardOf(grid.page)).plain).toContain('Author 25')
  })

  test('are all copied where a cell names only the first of many, also by filling', async () => {
    const library = await createLibrary(tests, MANY, ['A', 'B', 'C'])
    const link = await library.addLink('mm', 'Authors')
    const ids = MANY.slice(0, 25).map((_, at) => at + 1)
    await library.link(link, 1, ids)
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await expectCopy(grid, MANY.slice(0, 25).join(', '))
    await grid.cell(1, 'Authors').click()
    await press(grid, 'ControlOrMeta+v')
    const linkedTo = async (id: number) => readLinks(await library.read(link, id)).count
    expect(
      await eventually(
        () => linkedTo(2),
        (n) => n === 25,
      ),
    ).toBe(25)
    await grid.cell(0, 'Authors').click()
    await grid.cell(2, 'Authors').click({ modifiers: ['Shift'] })
    await press(grid, 'ControlOrMeta+d')
    expect(
      await eventually(
        () => linkedTo(3),
        (n) => n === 25,
      ),
    ).toBe(25)
  })

  test('are found by their exact names; what no record or several have is left out and listed', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B', 'C', 'D', 'E'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(link, 2, [3])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.paste('Tolkien, Sayers\nTolk\nTwin\nLast, First\n')
    await grid.page.getByText('2 values were invalid and not pasted').waitFor()
    expect(await cellReads(grid, 0, 'Authors', 'TolkienSayers')).toBe('TolkienSayers')
    expect(await cellReads(grid, 3, 'Authors', 'Last, First')).toBe('Last, First')
    expect(await textOf(grid.cell(1, 'Authors'))).toBe('Christie')
    await grid.page.getByRole('button', { name: 'Show' }).click()
    await grid.page.getByText('No record named “Tolk”').waitFor()
    await grid.page.getByText('More than one record is named “Twin”').waitFor()
    await grid.saved()
    await grid.untilWritten(['records.write'])
    expect(readLinks(await library.read(link, 1)).records.map(({ id }) => id)).toEqual([1, 4])
  })

  test('are found by their names in a sheet that is pasted into an empty table', async () => {
    const library = await createLibrary(tests, AUTHORS, [])
    const link = await library.addLink('mm', 'Authors')
    const grid = await tests.openTable(library.books)
    await grid.paste('Title\tAuthors\nA\tTolkien, Sayers\nB\t\nC\tTolk\nD\tLast, First')
    await grid.page.getByRole('dialog', { name: 'Paste this sheet?' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await grid.page.getByText('4 records pasted').waitFor()
    await grid.page.getByRole('button', { name: 'Show' }).click()
    await grid.page.getByText('No record named “Tolk”').waitFor()
    await grid.untilWritten(['records.write'])
    const linked = async (id: number) => readLinks(await library.read(link, id)).records.map((one) => one.id)
    expect([await linked(1), await linked(2), await linked(3), await linked(4)]).toEqual([
      [1, 4],
      [],
      [],
      [7],
    ])
  })

  test('go from a link of many to a link of one only where it is one', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B'])
    const link = await library.addLink('mm', 'Authors')
    const single = await library.addLink('bt', 'Author')
    await library.link(link, 1, [1, 2])
    await library.link(link, 2, [4])
    await library.link(single, 1, [3])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.cell(1, 'Authors').click({ modifiers: ['Shift'] })
    await expectCopy(grid, 'Tolkien, Le Guin\nSayers')
    await grid.cell(0, 'Author').click()
    await press(grid, 'ControlOrMeta+v')
    expect(await cellReads(grid, 1, 'Author', 'Sayers')).toBe('Sayers')
    await grid.page.getByText('1 value was invalid and not pasted').waitFor()
    expect(await textOf(grid.cell(0, 'Author'))).toBe('Christie')
  })

  test('are taken away by Delete and by cutting, and undo brings them back', async () => {
    const library = await createLibrary(tests, AUTHORS, ['A', 'B'])
    const link = await library.addLink('mm', 'Authors')
    await library.link(link, 1, [1, 2])
    await library.link(link, 2, [3])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Authors').click()
    await grid.cell(1, 'Authors').click({ modifiers: ['Shift'] })
    await press(grid, 'Delete')
    expect(await cellReads(grid, 0, 'Authors', '')).toBe('')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    expect(readLinks(await library.read(link, 1)).count).toBe(0)
    await press(grid, 'ControlOrMeta+z')
    expect(await cellReads(grid, 0, 'Authors', 'TolkienLe Guin')).toBe('TolkienLe Guin')
    await grid.cell(1, 'Authors').click()
    await press(grid, 'ControlOrMeta+x')
    expect(await cellReads(grid, 1, 'Authors', '')).toBe('')
    await grid.cell(0, 'Authors').click()
    await press(grid, 'ControlOrMeta+v')
    expect(await cellReads(grid, 0, 'Authors', 'Christie')).toBe('Christie')
  })

  test('go along when a record is duplicated, save those that only one can have', async () => {
    const library = await createLibrary(tests, MANY, ['A'])
    const many = await library.addLink('mm', 'Authors')
    const one = await library.addLink('bt', 'Author')
    const own = await library.addLink('hm', 'Children')
    await library.link(
      many,
      1,
      Array.from({ length: 14 }, (_, at) => at + 1),
    )
    await library.link(one, 1, [2])
    await library.link(own, 1, [7])
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Title').click({ button: 'right' })
    await grid.page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await grid.page.getByText('1 record duplicated').waitFor()
    expect(readLinks(await library.read(many, 2)).count).toBe(14)
    expect(readLinks(await library.read(one, 2)).records.map(({ id }) => id)).toEqual([2])
    expect(readLinks(await library.read(own, 2)).count).toBe(0)
    expect(readLinks(await library.read(own, 1)).count).toBe(1)
  })

  test('name other records of the same paste, whatever their order; those in a circle are left out', async () => {
    const api = tests.app().trpc(tests.owner().token)
    const foreign = await createForeign('postgres', [
      `create table part (id serial primary key, name varchar(20) not null unique,
        parent_id int not null references part (id))`,
      "insert into part (name, parent_id) values ('Root', 1)",
    ])
    try {
      const { id: baseId } = await createBase(tests.app(), tests.owner())
      const { id } = await api.sources.create.mutate({ baseId, ...foreign.sent })
      expect((await jobEnd({ app: tests.app() }, id)).status).toBe('completed')
      const [table] = await api.schema.tables.query({ baseId })
      const tableId = table?.id ?? ''
      const schema = await api.schema.table.query({ tableId })
      const grid = await tests.openTable({ schema, baseId, tableId })
      const stored = async () => {
        const ids = ['name', 'parent'].map((title) => schema.fields.find((f) => f.title === title)?.id ?? '')
        const { rows } = await api.records.list.query({
          query: { tableId, fieldIds: ids, limit: 20, offset: 0 },
        })
        const named = rows.map(([name, parent]) => [name, readLinks(parent ?? null).records[0]?.title])
        return named.toSorted(([a], [b]) => String(a).localeCompare(String(b)))
      }
      await grid.cell(0, 'name').click()
      await grid.paste(
        [
          'Root\tRoot',
          'Leaf\tBranch',
          'Own\tOwn',
          'A\tB',
          'B\tA',
          'Below A\tA',
          'Branch\tStem',
          'Lost\tNobody',
          'Stem\tRoot',
        ].join('\n'),
      )
      await grid.page.getByText('Add 3 records').waitFor()
      await grid.page.getByRole('button', { name: 'Paste' }).click()
      await grid.page.getByText('5 values were invalid and not pasted').waitFor()
      const after = [
        ['Branch', 'Stem'],
        ['Leaf', 'Branch'],
        ['Root', 'Root'],
        ['Stem', 'Root'],
      ]
      expect(await eventually(stored, (now) => now.length > 1)).toEqual(after)
      await grid.saved()
      await grid.untilWritten(['records.write'])
      expect(await cellReads(grid, 1, 'parent', 'Branch')).toBe('Branch')
      await grid.page.getByRole('button', { name: 'Show' }).click()
      const listed = grid.page.getByRole('dialog')
      await listed.getByText('No record named “Nobody”').waitFor()
      await listed.getByText('“parent” is required, and the record names itself there').waitFor()
      await listed.getByText('“parent” is required and names “B”, which needs this record in turn').waitFor()
      await listed.getByText('“parent” is required and names “A”, which cannot be added either').waitFor()
      await press(grid, 'Escape')
      await press(grid, 'ControlOrMeta+z')
      expect(await eventually(stored, (now) => now.length === 1)).toEqual([['Root', 'Root']])
    } finally {
      await foreign.stop()
    }
  })

  test('name other records of the same paste where a link may be empty, also in a circle', async () => {
    const library = await createLibrary(tests, [], ['A'])
    const next = await library.addField({
      type: 'Links',
      title: 'Next',
      options: { kind: 'mm', relatedTableId: library.books.tableId },
    })
    const grid = await tests.openTable(library.books)
    await grid.cell(0, 'Title').click()
    await grid.paste('A\tC\nB\tC, A\nC\tB\nD\tD\n')
    await grid.page.getByRole('button', { name: 'Paste' }).click()
    // Rows that exist are not linked to new ones.
    await grid.page.getByText('1 value was invalid and not pasted').waitFor()
    expect(await cellReads(grid, 1, 'Next', 'AC')).toBe('AC')
    expect(await cellReads(grid, 2, 'Next', 'B')).toBe('B')
    expect(await cellReads(grid, 3, 'Next', 'D')).toBe('D')
    const linked = async (id: number) =>
      readLinks(await library.read(next, id)).records.map(({ title }) => title)
    expect([await linked(2), await linked(3), await linked(4)]).toEqual([['A', 'C'], ['B'], ['D']])
    await grid.untilWritten(['records.write'])
    await press(grid, 'ControlOrMeta+z')
    await grid.shows('Title', ['A'])
    expect(await linked(1)).toEqual([])
  })
})
