import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf, untilCount } from './grid-page.ts'

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

describe('typing into the grid', () => {
  test('loses no key, before a quick Tab or Enter either, and sends one request per value', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(0, 'Title').click()
    for (const [text, key] of [
      ['The quick brown fox', 'Tab'],
      ['jumps over', 'Tab'],
      ['1234567', 'Enter'],
      ['dozed', 'Tab'],
      ['the lazy dog', 'Enter'],
    ] as const) {
      await grid.page.keyboard.type(text, { delay: 0 })
      await grid.page.keyboard.press(key)
    }
    await grid.saved()
    await grid.shows('Title', ['The quick brown fox', 'dozed'])
    await grid.shows('Notes', ['jumps over', 'the lazy dog'])
    await grid.shows('Stock', ['1234567', '2'])
    await grid.untilWritten(Array(5).fill('records.write'))
  })

  test('Escape leaves the value as it was, and nothing is sent', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.type('something else', { delay: 0 })
    await grid.page.keyboard.press('Escape')
    await grid.shows('Title', ['a'])
    expect(grid.writes()).toEqual([])
  })

  test('a text that is no number stays in the editor with the reason, and the old value is kept', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(0, 'Stock').click()
    await grid.page.keyboard.type('1.9', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    const editor = grid.page.getByTestId('cell-editor')
    expect(await textOf(editor.getByRole('alert'))).not.toBe('')
    expect(await editor.locator('input').inputValue()).toBe('1.9')
    await grid.page.keyboard.press('Escape')
    await grid.shows('Stock', ['1'])
    expect(grid.writes()).toEqual([])
  })

  test('a value that the server refuses stays in red with the reason, and can be discarded', async () => {
    const fields = [FIELDS[0]!, { title: 'Code', type: 'SingleLineText' as const, unique: true }]
    const grid = await tests.open(fields, [
      ['a', 'one'],
      ['b', 'two'],
    ])
    await grid.cell(0, 'Code').click()
    await grid.page.keyboard.type('same', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    await grid.page.keyboard.type('same', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    const failed = grid.page.locator('[data-failed]')
    await failed.first().waitFor()
    expect(await grid.cell(1, 'Code').textContent()).toContain('same')
    await grid.cell(1, 'Code').click({ button: 'right' })
    await grid.page.getByRole('menuitem', { name: 'Discard' }).click()
    // The refusal is an answer with an error status, which the browser notes.
    grid.problems.length = 0
    const codes = await eventually(
      () => grid.column('Code', 2),
      (texts) => texts[1] === 'two',
    )
    expect(codes).toEqual(['same', 'two'])
  })

  test('a new record is sent with its first value; one left untouched vanishes', async () => {
    const grid = await tests.open(FIELDS, three)
    const count = () => grid.page.getByTestId('record-count').textContent()
    await grid.page.getByTestId('add-record').click()
    expect(await count()).toBe('4 records')
    await grid.page.keyboard.press('ArrowUp')
    expect(await eventually(count, (text) => text === '3 records')).toBe('3 records')
    expect(grid.writes()).toEqual([])
    await grid.page.getByTestId('add-record').click()
    await grid.page.keyboard.type('fresh', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    await grid.shows('Title', ['a', 'b', 'c', 'fresh'])
  })
})

describe('many cells at once', () => {
  test('the fill handle continues a series, as one request', async () => {
    const grid = await tests.open(FIELDS, [
      ['a', '', 10, null],
      ['b', '', 20, null],
      ['c', '', null, null],
      ['d', '', null, null],
    ])
    await grid.cell(0, 'Stock').click()
    await grid.cell(1, 'Stock').click({ modifiers: ['Shift'] })
    const handle = await grid.page.getByTestId('fill-handle').boundingBox()
    const target = await grid.cell(3, 'Stock').boundingBox()
    if (!handle || !target) throw new Error('nothing to drag')
    await grid.page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2)
    await grid.page.mouse.down()
    await grid.page.mouse.move(target.x + 40, target.y + target.height / 2, { steps: 6 })
    await grid.page.mouse.up()
    await grid.saved()
    await grid.shows('Stock', ['10', '20', '30', '40'])
    await grid.untilWritten(['records.write'])
  })

  test('Delete empties a range, undo brings it back after a reload, redo empties it again', async () => {
    const grid = await tests.open(FIELDS, three)
    await grid.cell(0, 'Title').click()
    await grid.cell(1, 'Stock').click({ modifiers: ['Shift'] })
    await grid.page.keyboard.press('Delete')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    await grid.shows('Title', ['', '', 'c'])
    await grid.page.reload()
    await grid.cell(0, 'Due').click()
    await grid.page.keyboard.press('ControlOrMeta+z')
    await eventually(
      () => grid.column('Title', 3),
      (texts) => texts[0] === 'a',
    )
    await grid.shows('Title', ['a', 'b', 'c'])
    await grid.shows('Stock', ['1', '2'])
    await grid.page.keyboard.press('ControlOrMeta+Shift+z')
    await eventually(
      () => grid.column('Title', 3),
      (texts) => texts[0] === '',
    )
    await grid.shows('Title', ['', '', 'c'])
  })

  test('ticked records are deleted with one request, and the message brings them back', async () => {
    const grid = await tests.open(FIELDS, three)
    for (const row of [0, 1]) {
      await grid.cell(row, 'Title').hover()
      await grid.page.getByRole('checkbox', { name: `Select record ${row + 1}` }).check()
    }
    const bar = grid.page.getByTestId('bulk-bar')
    expect(await textOf(bar)).toContain('2 records selected')
    await bar.getByRole('button', { name: 'Delete' }).click()
    await eventually(
      () => grid.column('Title', 1),
      (texts) => texts[0] === 'c',
    )
    await grid.untilWritten(['records.write'])
    await grid.page.getByRole('button', { name: 'Undo' }).click()
    await untilCount(grid, '3 records')
    await grid.shows('Title', ['a', 'b', 'c'])
  })
})

describe('two people', () => {
  test('see what the other writes, adds and deletes', async () => {
    const table = await tests.createTable(FIELDS, three)
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const [one, two] = await Promise.all([tests.openTable(table), tests.openTable(table, editor)])
    // Both are listening once the socket is open.
    await Bun.sleep(600)
    await one.cell(1, 'Title').click()
    await one.page.keyboard.type('from one', { delay: 0 })
    await one.page.keyboard.press('Enter')
    await eventually(
      () => two.column('Title', 2),
      (texts) => texts[1] === 'from one',
    )
    await two.shows('Title', ['a', 'from one', 'c'])
    await two.page.getByTestId('add-record').click()
    await two.page.keyboard.type('from two', { delay: 0 })
    await two.page.keyboard.press('Enter')
    await untilCount(one, '4 records')
    await one.shows('Title', ['a', 'from one', 'c', 'from two'])
    await two.cell(0, 'Title').click({ button: 'right' })
    await two.page.getByRole('menuitem', { name: 'Delete record' }).click()
    await untilCount(one, '3 records')
    await one.shows('Title', ['from one', 'c', 'from two'])
  })
})
