import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { createMember } from '../support/factories.ts'
import { copied, eventually, gridTests, untilCount } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Notes', type: 'LongText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Due', type: 'Date' as const },
]

const three: CellValue[][] = [
  ['a', 'one', 1, '2024-01-01'],
  ['b', 'two', 2, '2024-01-02'],
  ['c', 'three', 3, '2024-01-03'],
]

describe('the clipboard', () => {
  test('copies as text and as a table, and pastes back what it copied', async () => {
    const grid = await tests.open(FIELDS, [
      ['a\tb', 'line 1\nline "2"', 1, '2024-01-01'],
      ['<b>', '', 2, null],
      ['x', '', 3, null],
      ['y', '', 4, null],
    ])
    await grid.cell(0, 'Title').click()
    await grid.cell(1, 'Due').click({ modifiers: ['Shift'] })
    const { plain, html } = await copied(grid.page)
    expect(plain).toBe('"a\tb"\t"line 1\nline ""2"""\t1\t2024-01-01\n<b>\t\t2\t')
    expect(html).toContain('line 1<br>line')
    expect(html).toContain('&lt;b&gt;')
    await grid.cell(2, 'Title').click()
    await grid.page.keyboard.press('ControlOrMeta+v')
    await eventually(
      () => grid.column('Stock', 4),
      (texts) => texts[3] === '2',
    )
    await grid.saved()
    await grid.shows('Stock', ['1', '2', '1', '2'])
    await grid.shows('Due', ['2024-01-01', '', '2024-01-01', ''])
    await grid.untilWritten(['records.write'])
  })

  test('a paste past the last row asks once and adds the records in the same request', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(2, 'Title').click()
    await grid.paste('p1\tn1\t10\np2\tn2\t20\np3\tn3\t30')
    await grid.page.getByRole('dialog', { name: 'Add rows, fields or options?' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await untilCount(grid, '5 records')
    await grid.saved()
    await grid.shows('Title', ['a', 'b', 'p1', 'p2', 'p3'])
    await grid.shows('Stock', ['1', '2', '10', '20', '30'])
    await grid.untilWritten(['records.write'])
  })

  test('a sheet pasted into an empty table makes its fields', async () => {
    const grid = await tests.open([{ title: 'Title', type: 'SingleLineText' }])
    await grid.paste('Name\tAge\nAnn\t31\nBen\t40')
    await grid.page.getByRole('dialog', { name: 'Paste this sheet?' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await untilCount(grid, '2 records')
    expect(await grid.titles()).toEqual(['Name', 'Age'])
    await grid.shows('Title', ['Ann', 'Ben'])
    // One step undoes the records, the new field and the new name of the first, after asking.
    await grid.page.keyboard.press('ControlOrMeta+z')
    await grid.page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await eventually(
      () => grid.titles(),
      (titles) => titles.join() === 'Title',
    )
    await untilCount(grid, '0 records')
  })

  test('records pasted into an empty table go into the fields that they were copied from', async () => {
    const made = { title: 'Made', type: 'CreatedTime' as const }
    const table = await tests.createTable(
      [...FIELDS.slice(0, 2), made],
      [
        ['a', 'one'],
        ['b', 'two'],
      ],
    )
    const grid = await tests.openTable(table)
    await grid.cell(0, 'Title').click()
    await grid.cell(1, 'Made').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('ControlOrMeta+c')
    await grid.page.getByText('6 cells copied').first().waitFor()
    const operations = [{ kind: 'delete' as const, tableId: table.tableId, ids: [1, 2] }]
    const owner = tests.app().trpc(tests.owner().token)
    await owner.records.write.mutate({ change: { baseId: table.baseId, operations } })
    await untilCount(grid, '0 records')
    await grid.page.keyboard.press('ControlOrMeta+v')
    await grid.page.getByRole('dialog', { name: 'Paste this sheet?' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await untilCount(grid, '2 records')
    expect(await grid.titles()).toEqual(['Title', 'Notes', 'Made'])
    await grid.shows('Title', ['a', 'b'])
    await grid.shows('Notes', ['one', 'two'])
  })

  test('the button of an empty table pastes records into the fields that they were copied from', async () => {
    const table = await tests.createTable(FIELDS.slice(0, 2), [
      ['a', 'one'],
      ['b', 'two'],
    ])
    const grid = await tests.openTable(table)
    await grid.cell(0, 'Title').click()
    await grid.cell(1, 'Notes').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('ControlOrMeta+c')
    await grid.page.getByText('4 cells copied').first().waitFor()
    const operations = [{ kind: 'delete' as const, tableId: table.tableId, ids: [1, 2] }]
    const owner = tests.app().trpc(tests.owner().token)
    await owner.records.write.mutate({ change: { baseId: table.baseId, operations } })
    await untilCount(grid, '0 records')
    await grid.page.getByRole('button', { name: 'Paste' }).click()
    await grid.page.getByRole('dialog', { name: 'Paste this sheet?' }).waitFor()
    await grid.page.keyboard.press('Enter')
    await untilCount(grid, '2 records')
    expect(await grid.titles()).toEqual(['Title', 'Notes'])
    await grid.shows('Title', ['a', 'b'])
    await grid.shows('Notes', ['one', 'two'])
  })

  test('records pasted into an empty table with other fields keep their order if fields may not be added', async () => {
    const from = await tests.createTable(FIELDS.slice(0, 2), [['a', 'one']])
    const others = FIELDS.slice(0, 2).map((field) => ({ ...field, title: `Other ${field.title}` }))
    const owner = tests.app().trpc(tests.owner().token)
    const { table } = await owner.schema.createTable.mutate({
      baseId: from.baseId,
      title: 'Others',
      fields: others,
    })
    const editor = await createMember(tests.app(), from.baseId, 'editor')
    const grid = await tests.openTable(from, editor)
    await grid.cell(0, 'Title').click()
    await grid.cell(0, 'Notes').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('ControlOrMeta+c')
    await grid.page.getByText('2 cells copied').first().waitFor()
    await grid.page.getByRole('link', { name: 'Others' }).first().click()
    await grid.page.getByRole('heading', { name: 'Others' }).first().waitFor()
    await grid.page.getByRole('button', { name: 'Paste' }).waitFor()
    await grid.page.keyboard.press('ControlOrMeta+v')
    await grid.page.getByText('1 record pasted').first().waitFor()
    const query = { tableId: table.id, limit: 5, offset: 0 }
    const { rows } = await owner.records.list.query({ query })
    expect(rows[0]).toEqual(expect.arrayContaining(['a', 'one']))
  })

  test('a cut of ranges that form no table empties only the one that it copies', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(0, 'Title').click()
    await grid.cell(1, 'Stock').click({ modifiers: ['ControlOrMeta'] })
    const { plain } = await copied(grid.page, () => grid.page.keyboard.press('ControlOrMeta+x'))
    expect(plain).toBe('2')
    await grid.saved()
    await grid.shows('Stock', ['1', '', '3'])
    await grid.shows('Title', ['a', 'b', 'c'])
  })

  test('a select option that does not exist is asked about once', async () => {
    const status = {
      title: 'Status',
      type: 'SingleSelect' as const,
      options: { choices: [{ title: 'Open' }] },
    }
    const grid = await tests.open([FIELDS[0]!, status], [['a'], ['b'], ['c']])
    await grid.cell(0, 'Status').click()
    await grid.paste('Open\nNew\nNewer')
    await grid.page.getByText('Add 2 options').waitFor()
    await grid.page.keyboard.press('Enter')
    await eventually(
      () => grid.column('Status', 3),
      (texts) => texts[2] === 'Newer',
    )
    await grid.shows('Status', ['Open', 'New', 'Newer'])
    await grid.page.keyboard.press('ControlOrMeta+z')
    await eventually(
      () => grid.column('Status', 3),
      (texts) => texts.join('') === '',
    )
  })

  test('a paste fills the rows that it was made for, though others add one during its question', async () => {
    const status = {
      title: 'Status',
      type: 'SingleSelect' as const,
      options: { choices: [{ title: 'Open' }] },
    }
    const count = 400
    const table = await tests.createTable(
      [FIELDS[0]!, status],
      Array.from({ length: count }, (_, at) => [`old ${at + 1}`]),
    )
    const grid = await tests.openTable(table)
    await untilCount(grid, `${count} records`)
    await grid.cell(0, 'Title').click()
    await grid.paste(Array.from({ length: count }, (_, at) => `new ${at + 1}\tNew`).join('\n'))
    await grid.page.getByText('Add 1 option').waitFor()
    const owner = tests.app().trpc(tests.owner().token)
    const titleId = table.schema.fields.find(({ title }) => title === 'Title')!.id
    const rows = [{ values: { [titleId]: 'added' } }]
    const insert = { kind: 'insert' as const, tableId: table.tableId, rows, before: 1 }
    await owner.records.write.mutate({ change: { baseId: table.baseId, operations: [insert] } })
    await untilCount(grid, `${count + 1} records`)
    await grid.page.keyboard.press('Enter')
    await eventually(
      () => grid.column('Status', 3),
      (texts) => texts[2] === 'New',
    )
    await grid.saved()
    const query = { tableId: table.tableId, fieldIds: [titleId], limit: count + 1, offset: 0 }
    const page = await owner.records.list.query({ query })
    expect(page.ids).toEqual([count + 1, ...Array.from({ length: count }, (_, at) => at + 1)])
    expect(page.rows.flat()).toEqual(['added', ...Array.from({ length: count }, (_, at) => `new ${at + 1}`)])
  })
})
