import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { copied, eventually, textOf, untilCount } from './grid-page.ts'
import { BY_STATUS, FIELDS, group, groupTests, ROWS, untilHeaders } from './groups-page.ts'

const tests = groupTests()

describe('a grouped view', () => {
  test('is made in the toolbar, lists groups as options stand with their sums, and stays for the next visit', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.getByTestId('group-button').click()
    await page.getByRole('button', { name: 'Add group' }).click()
    await page.getByLabel('Field', { exact: true }).selectOption({ label: 'Status' })
    await untilHeaders(grid, BY_STATUS)
    await grid.shows('Title', ['measure', 'saw', 'draw', 'paint', 'glue', 'sand'])
    await page.getByLabel('Direction').selectOption({ label: 'Last option → first' })
    await untilHeaders(grid, BY_STATUS.toReversed())
    await page.getByRole('button', { name: 'Add group' }).click()
    await page.getByLabel('Field', { exact: true }).nth(1).selectOption({ label: 'Urgent' })
    await page.keyboard.press('Escape')
    await untilHeaders(grid, [
      'Status: Done, 3 records',
      'Urgent: Not checked, 2 records',
      'Urgent: Checked, 1 record',
      'Status: Todo, 2 records',
      'Urgent: Not checked, 1 record',
      'Urgent: Checked, 1 record',
      'Status: (Empty), 1 record',
      'Urgent: Not checked, 1 record',
    ])
    await grid.header('Urgent').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Remove group' }).click()
    await untilHeaders(grid, BY_STATUS.toReversed())
    await page.reload()
    await untilHeaders(grid, BY_STATUS.toReversed())
    expect(await textOf(page.getByTestId('group-button'))).toContain('1')
    expect(await page.locator('[role="treegrid"]').count()).toBe(1)
  })

  test('begins with a field whose values many records share, or asks for one', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.page.getByTestId('group-button').click()
    await grid.page.getByRole('button', { name: 'Add group' }).click()
    await untilHeaders(grid, BY_STATUS)
    const texts = await tests.open(
      [FIELDS[0]!, { title: 'Place', type: 'SingleLineText' as const }],
      [
        ['a', 'Rome'],
        ['b', 'Rome'],
      ],
    )
    await texts.page.getByTestId('group-button').click()
    await texts.page.getByRole('button', { name: 'Add group' }).click()
    const choice = texts.page.getByLabel('Field', { exact: true })
    expect(await choice.evaluate((one) => one === document.activeElement)).toBe(true)
    expect(await texts.page.getByTestId('group').count()).toBe(0)
    await choice.selectOption({ label: 'Place' })
    await untilHeaders(texts, ['Place: Rome, 2 records'])
  })

  test('closes groups for this person, whose rows the arrows pass over and a search opens', async () => {
    const grid = await tests.openTable(await tests.createGrouped(['Status']))
    const { page } = grid
    await untilHeaders(grid, BY_STATUS)
    const sums = () => page.getByTestId('group-summary').allTextContents()
    expect(await eventually(sums, (all) => all.length === 3)).toEqual(['1', '7', '17'])
    await group(page, 'Todo').getByTestId('group-toggle').click()
    expect(await group(page, 'Todo').getAttribute('aria-expanded')).toBe('false')
    await eventually(
      () => grid.cell(1, 'Title').count(),
      (count) => count === 0,
    )
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.type('oil')
    await page.keyboard.press('Enter')
    await grid.saved()
    expect(await textOf(grid.cell(3, 'Title'))).toBe('oil')
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Delete')
    await grid.saved()
    await page.reload()
    await untilHeaders(grid, BY_STATUS)
    expect(await grid.cell(1, 'Title').count()).toBe(0)
    await group(page, 'Done').getByTestId('group-toggle').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Collapse all groups' }).click()
    await eventually(
      () => page.getByTestId('row').count(),
      (count) => count === 0,
    )
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog').getByRole('combobox').fill('Expand all groups')
    await page.getByRole('option', { name: 'Expand all groups' }).waitFor()
    await page.keyboard.press('Enter')
    await grid.cell(5, 'Title').waitFor()
    // What was cleared is what was to be seen.
    await grid.shows('Title', ['', 'saw', 'draw', '', 'glue', 'sand'])
    await group(page, 'Done').getByTestId('group-toggle').click()
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('glue')
    await grid.cell(4, 'Title').waitFor()
    expect(await textOf(grid.cell(4, 'Title'))).toBe('glue')
  })

  test('takes a new record into a group with its values, and one that is dragged into another', async () => {
    const grid = await tests.openTable(await tests.createGrouped(['Status', 'Urgent']))
    const { page } = grid
    const before = [
      'Status: (Empty), 1 record',
      'Urgent: Not checked, 1 record',
      'Status: Todo, 2 records',
      'Urgent: Not checked, 1 record',
      'Urgent: Checked, 1 record',
      'Status: Done, 3 records',
      'Urgent: Not checked, 2 records',
      'Urgent: Checked, 1 record',
    ]
    await untilHeaders(grid, before)
    await page.getByTestId('add-row-in-group').nth(2).click()
    await page.keyboard.type('clamp')
    await page.keyboard.press('Enter')
    await grid.saved()
    await untilHeaders(grid, [
      ...before.slice(0, 2),
      'Status: Todo, 3 records',
      'Urgent: Not checked, 1 record',
      'Urgent: Checked, 2 records',
      ...before.slice(5),
    ])
    expect([await textOf(grid.cell(3, 'Title')), await textOf(grid.cell(3, 'Status'))]).toEqual([
      'clamp',
      'Todo',
    ])
    await page.keyboard.press('ControlOrMeta+z')
    await untilHeaders(grid, before)

    grid.calls.length = 0
    const row = page.locator('[data-testid="row"][data-index="0"]')
    await row.hover()
    const handle = await row.locator('[data-part="rowHandle"]').boundingBox()
    const target = await grid.cell(3, 'Title').boundingBox()
    if (!handle || !target) throw new Error('The rows are not in sight')
    await page.mouse.move(handle.x + 5, handle.y + 8)
    await page.mouse.down()
    await page.mouse.move(handle.x + 5, handle.y + 40, { steps: 3 })
    await page.mouse.move(target.x, target.y + 30, { steps: 3 })
    await page.mouse.up()
    const after = [
      ...before.slice(2, 5),
      'Status: Done, 4 records',
      'Urgent: Not checked, 3 records',
      'Urgent: Checked, 1 record',
    ]
    await untilHeaders(grid, after)
    await grid.untilWritten(['records.write'])
    await grid.shows('Title', ['draw', 'saw', 'paint', 'measure', 'sand', 'glue'])
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ControlOrMeta+z')
    await untilHeaders(grid, before)
  })

  test('keeps a record that another group is for until one leaves it, and follows what others do', async () => {
    const table = await tests.createGrouped(['Status'])
    const grid = await tests.openTable(table)
    const other = await tests.openTable(table)
    const { page } = grid
    await untilHeaders(grid, BY_STATUS)
    await grid.cell(1, 'Status').click()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Done')
    await page.keyboard.press('Enter')
    await grid.saved()
    const row = page.locator('[data-testid="row"][data-index="1"]')
    await eventually(
      () => row.getAttribute('data-state'),
      (state) => state === 'unmatched',
    )
    expect(await textOf(grid.cell(1, 'Title'))).toBe('saw')
    const moved = ['Status: (Empty), 1 record', 'Status: Todo, 1 record', 'Status: Done, 4 records']
    await untilHeaders(other, moved)
    await grid.cell(0, 'Title').click()
    await untilHeaders(grid, moved)
    await grid.shows('Title', ['measure', 'draw', 'paint', 'saw', 'glue', 'sand'])
    const sums = () => page.getByTestId('group-summary').allTextContents()
    await other.cell(0, 'Points').click()
    await other.page.keyboard.type('8')
    await other.page.keyboard.press('Enter')
    expect(await eventually(sums, (all) => all[0] === '8')).toEqual(['8', '2', '22'])
  })

  test('may be grouped and closed by who only reads, for the visit and without a way to write', async () => {
    const table = await tests.createGrouped(['Status'])
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const grid = await tests.openTable(table, viewer)
    const { page } = grid
    await untilHeaders(grid, BY_STATUS)
    expect(await page.getByTestId('add-row-in-group').count()).toBe(0)
    expect(await page.locator('[data-part="rowHandle"]').count()).toBe(0)
    await group(page, 'Done').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy value' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'New record in this group' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByTestId('group-button').click()
    await page.getByRole('button', { name: 'Remove group by Status' }).click()
    await eventually(
      () => page.getByTestId('group').count(),
      (count) => count === 0,
    )
    await grid.shows('Title', ['paint', 'saw', 'measure'])
    expect(grid.writes()).toEqual([])
  })

  test('copies, pastes and fills what is shown of a range, and nothing of closed groups', async () => {
    const table = await tests.createGrouped(['Status'])
    const grid = await tests.openTable(table)
    const { page } = grid
    await untilHeaders(grid, BY_STATUS)
    await group(page, 'Todo').getByTestId('group-toggle').click()
    await eventually(
      () => grid.cell(1, 'Title').count(),
      (count) => count === 0,
    )
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Shift+ArrowDown')
    const { plain } = await copied(page)
    expect(plain.replaceAll('\r', '').trim()).toBe('measure\npaint')
    await grid.cell(0, 'Title').click()
    await grid.paste('one\ntwo\nthree')
    await eventually(
      () => textOf(grid.cell(4, 'Title')),
      (text) => text === 'three',
    )
    await grid.saved()
    await grid.cell(0, 'Points').click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    // The range stays whole when a change arrives, which looks up the selected records again.
    const { trpc, token } = { ...tests.app(), ...tests.owner() }
    const idOf = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? ''
    const values = { [idOf('Title')]: 'zinc', [idOf('Status')]: 'Done' }
    const operations = [{ kind: 'insert' as const, tableId: table.tableId, rows: [{ values }] }]
    await trpc(token).records.write.mutate({ change: { baseId: table.baseId, operations } })
    await untilCount(grid, '7 records')
    await page.keyboard.press('ControlOrMeta+d')
    await grid.saved()
    await group(page, 'Todo').getByTestId('group-toggle').click()
    await grid.cell(1, 'Title').waitFor()
    await grid.shows('Title', ['one', 'saw', 'draw', 'two', 'three', 'sand', 'zinc'])
    await grid.shows('Points', ['1', '5', '2', '1', '1', '10', ''])
    // The row above is the last shown one, not one of a closed group.
    await group(page, 'Todo').getByTestId('group-toggle').click()
    await eventually(
      () => grid.cell(1, 'Title').count(),
      (count) => count === 0,
    )
    await grid.cell(0, 'Points').click()
    await page.keyboard.press('8')
    await page.keyboard.press('Enter')
    await grid.saved()
    await grid.cell(3, 'Points').click()
    await page.keyboard.press('ControlOrMeta+d')
    await grid.showsIn(3, 'Points', '8')
  })

  test('reads further groups as one comes near them, and shows a search in its groups', async () => {
    const rows = Array.from({ length: 1300 }, (_, at) => [`t${String(at).padStart(4, '0')}`, null, at, false])
    const grid = await tests.openTable(await tests.createGrouped(['Title'], rows))
    const { page } = grid
    await untilCount(grid, '1,300 records')
    const scroller = page.locator('[role="treegrid"]')
    const bottom = async () => {
      await scroller.evaluate((element) => {
        element.scrollTop = element.scrollHeight
      })
      return page.getByTestId('group').filter({ hasText: 't1299' }).count()
    }
    expect(await eventually(bottom, (count) => count === 1)).toBe(1)
    await grid.showsIn(1299, 'Points', '1299')
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('t0700')
    await untilHeaders(grid, ['Title: t0700, 1 record'])
  })

  test('gives a pasted new field to the records that are shown', async () => {
    const table = await tests.createGrouped(['Status'])
    const grid = await tests.openTable(table)
    const { page } = grid
    await untilHeaders(grid, BY_STATUS)
    await group(page, 'Todo').getByTestId('group-toggle').click()
    await eventually(
      () => grid.cell(1, 'Title').count(),
      (count) => count === 0,
    )
    await grid.cell(0, 'Urgent').click()
    await grid.paste('true\tx\ntrue\ty\ntrue\tz')
    await page.getByText('Add 1 field').waitFor()
    await page.keyboard.press('Enter')
    const api = tests.app().trpc(tests.owner().token)
    const { tableId, schema } = table
    const values = async (): Promise<unknown[]> => {
      const { fields } = await api.schema.table.query({ tableId })
      const added = fields.find(({ id }) => !schema.fields.some((one) => one.id === id))?.id ?? ''
      // measure, paint, glue; and saw and draw of the closed group
      const read = [3, 1, 4, 2, 5].map((recordId) => api.records.get.query({ tableId, recordId }))
      return (await Promise.all(read)).map((record) => record.values[added] ?? null)
    }
    expect(await eventually(values, (now) => now.includes('z'))).toEqual(['x', 'y', 'z', null, null])
  })
})
