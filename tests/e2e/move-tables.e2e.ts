import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, type OpenTable, untilCount } from './grid-page.ts'
import { see, tableLink } from './shell-page.ts'

const tests = gridTests()

const menuItem = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true })

describe('moving a table to another base', () => {
  test('says what becomes of links, and takes linked tables along', async () => {
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [['Lid'], ['Leg']])
    const trpc = tests.app().trpc(tests.owner().token)
    const { baseId } = table
    const makers = await trpc.schema.createTable.mutate({ baseId, title: 'Makers' })
    const notes = await trpc.schema.createTable.mutate({ baseId, title: 'Notes' })
    for (const [tableId, title, relatedTableId] of [
      [table.tableId, 'Made by', makers.table.id],
      [notes.table.id, 'About', table.tableId],
    ] as const)
      await trpc.schema.createField.mutate({
        tableId,
        field: { title, type: 'Links', options: { kind: 'mm', relatedTableId } },
      })
    const target = await trpc.bases.create.mutate({ title: 'Archive' })
    const grid = await tests.openTable(table)
    const { page } = grid
    await tableLink(page, 'Tasks').click({ button: 'right' })
    await menuItem(page, 'Move to base…').click()
    const dialog = page.getByRole('dialog', { name: 'Move “Tasks” to a base' })
    const notesOf = dialog.getByTestId('copied-fields')
    await see(notesOf.getByText('become their values: Made by, Notes'))
    await see(
      notesOf.getByText('These links of tables that stay go to the trash: Tasks (Makers), About (Notes)'),
    )
    await dialog.getByLabel('Makers').check()
    await see(notesOf.getByText('become their values: Notes (Tasks)'))
    await dialog.getByRole('button', { name: 'Add the linked table' }).click()
    await notesOf.getByText('become their values').waitFor({ state: 'detached' })
    expect(await dialog.getByLabel('Notes').isChecked()).toBe(true)
    await dialog.getByLabel('Base').selectOption({ label: 'Archive' })
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await see(page.getByText('3 tables are ready'))
    await untilCount(grid, '2 records')
    await see(tableLink(page, 'Makers'))
    const moved = await trpc.schema.tables.query({ baseId: target.id })
    expect(moved.map(({ title }) => title).toSorted()).toEqual(['Makers', 'Notes', 'Tasks'])
    expect(await trpc.schema.tables.query({ baseId })).toEqual([])
  })
})

describe('adding more linked tables than can be moved together', () => {
  test('adds those that fit, and says how many may be moved', async () => {
    const linked = 100
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [])
    const trpc = tests.app().trpc(tests.owner().token)
    const { baseId, tableId } = table
    const numbers = Array.from({ length: linked }, (_, at) => at + 1)
    const others = await Promise.all(
      numbers.map((at) => trpc.schema.createTable.mutate({ baseId, title: `Linked ${at}` })),
    )
    await Promise.all(
      others.map(({ table: { id, title } }) => {
        const options = { kind: 'mm', relatedTableId: id, inverse: false }
        return trpc.schema.createField.mutate({ tableId, field: { title, type: 'Links', options } as never })
      }),
    )
    const { page } = await tests.openTable(table)
    await tableLink(page, 'Tasks').click({ button: 'right' })
    await menuItem(page, 'Copy to base…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Add 99 of 100 linked tables' }).click()
    await see(dialog.getByText('Up to 100 tables can be copied or moved together.'))
    expect(await dialog.getByRole('button', { name: 'Add the linked table' }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Copy', exact: true }).isEnabled()).toBe(true)
  })
})

describe('a table that somebody else moves to another base', () => {
  const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]

  async function moved(table: OpenTable, baseId: string): Promise<string> {
    const trpc = tests.app().trpc(tests.owner().token)
    const { jobId, tableId } = await trpc.copies.tableToBase.mutate({
      tableId: table.tableId,
      baseId,
      isMove: true,
    })
    await eventually(
      () => trpc.jobs.get.query({ jobId }),
      ({ status }) => status === 'completed',
    )
    return tableId
  }

  test('says where it is, and shows there what was typed meanwhile', async () => {
    const table = await tests.createTable(FIELDS, [['Lid'], ['Leg']])
    const trpc = tests.app().trpc(tests.owner().token)
    const target = await trpc.bases.create.mutate({ title: 'Archive' })
    const member = await createMember(tests.app(), table.baseId, 'editor')
    await trpc.bases.invite.mutate({ baseId: target.id, emails: [member.email], role: 'editor' })
    const grid = await tests.openTable(table, member)
    const { page } = grid
    await grid.cell(1, 'Title').click()
    await page.keyboard.press('Enter')
    await page.keyboard.type(' of the table')
    const tableId = await moved(table, target.id)
    await see(page.getByRole('heading', { name: '“Tasks” has been moved to “Archive”' }))
    await see(page.getByText('Edits that were not saved before it moved are shown there in red'))
    await page.getByRole('button', { name: 'Open table' }).click()
    await untilCount(grid, '2 records')
    expect(page.url()).toContain(tableId)
    await see(page.getByRole('gridcell', { name: 'Lid' }))
    await page.getByRole('gridcell', { name: 'Leg of the table' }).click()
    // It waits there to be saved.
    const rest = tests.app().rest(tests.owner().token)
    const stored = async () => (await rest.get(`/api/v2/tables/${tableId}/records/2`)).body.Title
    expect(await stored()).toBe('Leg')
    await page.getByRole('button', { name: 'Retry' }).click()
    expect(await eventually(stored, (title) => title !== 'Leg')).toBe('Leg of the table')
    grid.problems.length = 0
  })

  test('says so without a way there to those who may not open that base', async () => {
    const table = await tests.createTable(FIELDS, [['Lid']])
    const target = await tests.app().trpc(tests.owner().token).bases.create.mutate({ title: 'Secret plans' })
    const member = await createMember(tests.app(), table.baseId, 'editor')
    const { page, problems } = await tests.openTable(table, member)
    await moved(table, target.id)
    await see(page.getByRole('heading', { name: '“Tasks” has been moved to another base' }))
    expect(await page.getByText('Secret plans').count()).toBe(0)
    await page.getByRole('button', { name: 'Open base' }).click()
    await page.getByRole('heading', { name: '“Tasks” has been moved' }).waitFor({ state: 'detached' })
    problems.length = 0
  })

  test('is found by its former address', async () => {
    const table = await tests.createTable(FIELDS, [['Lid']])
    const target = await tests.app().trpc(tests.owner().token).bases.create.mutate({ title: 'Archive' })
    const grid = await tests.openTable(table)
    await moved(table, target.id)
    await grid.page.reload()
    await grid.page.getByRole('button', { name: 'Open table' }).click()
    await untilCount(grid, '1 record')
    grid.problems.length = 0
  })
})
