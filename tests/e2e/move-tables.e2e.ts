import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { gridTests, untilCount } from './grid-page.ts'
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
