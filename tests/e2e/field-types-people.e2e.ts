import { describe, expect, test } from 'bun:test'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { copied, eventually, type GridPage, gridTests, type OpenTable, untilInput } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Who', type: 'User' as const },
  { title: 'Team', type: 'User' as const, options: { multiple: true }, defaultValue: '@me' },
  { title: 'Secret', type: 'Password' as const },
  { title: 'No', type: 'AutoNumber' as const },
]

/** A table with two records, opened by one of two members. */
async function open(): Promise<{ grid: GridPage; table: OpenTable; ann: TestUser; bob: TestUser }> {
  const table = await tests.createTable(FIELDS, [['a'], ['b']])
  const ann = await createMember(tests.app(), table.baseId, 'creator')
  const bob = await createMember(tests.app(), table.baseId, 'editor')
  const grid = await tests.openTable(table, ann)
  return { grid, table, ann, bob }
}

const cells = (grid: GridPage, title: string) => grid.column(title, 2)

describe('people', () => {
  test('are found by typing, one or several, without a mouse', async () => {
    const { grid, ann, bob } = await open()
    const { page } = grid
    await grid.cell(0, 'Who').click()
    await page.keyboard.type(bob.email.slice(0, 8), { delay: 0 })
    await page.getByTestId('option').first().waitFor()
    await page.keyboard.press('Enter')
    expect((await cells(grid, 'Who'))[0]).toContain(bob.email)
    await grid.cell(1, 'Team').click()
    await page.keyboard.press('Enter')
    await page.keyboard.type(ann.email.slice(0, 9), { delay: 0 })
    await page.keyboard.press('Enter')
    await page.keyboard.type(bob.email.slice(0, 8), { delay: 0 })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    // Escape leaves without change, however many were ticked.
    expect((await cells(grid, 'Team'))[1]).not.toContain(bob.email)
    await page.keyboard.press('Enter')
    await page.getByTestId('option').filter({ hasText: ann.email }).click()
    await page.getByTestId('option').filter({ hasText: bob.email }).click()
    await grid.cell(0, 'Title').click()
    const shown = await eventually(
      async () => (await cells(grid, 'Team'))[1] ?? '',
      (text) => text.includes('+2'),
    )
    // The owner, who made the record, and the two.
    expect(shown).toEndWith('+2')
    await grid.untilWritten(['records.write', 'records.write'])
  })

  test('are named by their email addresses in the preview of a conversion', async () => {
    const { grid, bob } = await open()
    const { page } = grid
    await grid.cell(0, 'Who').click()
    await page.keyboard.type(bob.email.slice(0, 8), { delay: 0 })
    await page.getByTestId('option').first().waitFor()
    await page.keyboard.press('Enter')
    await grid.saved()
    await grid.header('Who').dblclick()
    await page.getByTestId('field-type').click()
    await page.keyboard.type('single line')
    await page.keyboard.press('Enter')
    const sample = page.getByTestId('type-preview').getByRole('listitem')
    await sample.waitFor()
    expect(await sample.locator('[dir="auto"]').allTextContents()).toEqual([bob.email, bob.email])
  })

  test('that nobody is are refused in place', async () => {
    const { grid } = await open()
    await grid.cell(0, 'Who').click()
    await grid.page.keyboard.type('nobody', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    expect(await grid.page.getByRole('alert').textContent()).toContain('No member named “nobody”')
    await grid.page.keyboard.press('Escape')
    expect(grid.writes()).toEqual([])
  })

  test('are copied and pasted as e-mails', async () => {
    const { grid, ann, bob } = await open()
    const { page } = grid
    await grid.cell(0, 'Team').click()
    await grid.paste(`${ann.email}, ${bob.email}`)
    await eventually(
      async () => (await cells(grid, 'Team'))[0] ?? '',
      (text) => text !== '',
    )
    const { plain } = await copied(page)
    expect(plain.trim()).toBe(`${ann.email}, ${bob.email}`)
    await grid.cell(0, 'Who').click()
    await grid.paste('eve@example.com')
    await page.getByText('1 value was invalid and not pasted').waitFor()
    expect((await cells(grid, 'Who'))[0]).toBe('')
  })

  test('new records begin with the person who makes them', async () => {
    const { grid, ann } = await open()
    await grid.page.getByTestId('add-record').click()
    await grid.page.keyboard.type('new', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    const texts = await eventually(
      () => grid.column('Team', 3),
      (all) => all[2]?.includes(ann.email) ?? false,
    )
    expect(texts[2]).toContain(ann.email)
    await grid.shows('No', ['1', '2', '3'])
  })
})

describe('a password', () => {
  test('shows dots whatever was typed, and stays where the editor is left empty', async () => {
    const { grid } = await open()
    const { page } = grid
    await grid.cell(0, 'Secret').click()
    await page.keyboard.type('hunter2', { delay: 0 })
    expect(await page.getByTestId('cell-editor').locator('input').getAttribute('type')).toBe('password')
    await page.keyboard.press('Enter')
    expect(await cells(grid, 'Secret')).toEqual(['••••••••', ''])
    await grid.cell(0, 'Secret').dblclick()
    await page.keyboard.press('Enter')
    await grid.saved()
    await grid.untilWritten(['records.write'])
    await page.reload()
    await page.waitForSelector('[role="gridcell"]')
    expect(
      await eventually(
        () => cells(grid, 'Secret'),
        (all) => all[0] !== '',
      ),
    ).toEqual(['••••••••', ''])
    await untilInput(page)
    await grid.cell(0, 'Secret').click()
    await page.keyboard.press('Delete')
    await grid.shows('Secret', ['', ''])
  })
})

describe('codes', () => {
  test('are drawn in the row, say what is not valid, and open in large with copy and download', async () => {
    const table = await tests.createTable(
      [{ title: 'Title', type: 'SingleLineText' as const }],
      [['4006381333931'], ['abc'], []],
    )
    const owner = await createMember(tests.app(), table.baseId, 'owner')
    const api = tests.app().trpc(owner.token)
    const valueFieldId = table.schema.fields.find((field) => field.title === 'Title')?.id ?? ''
    const make = (title: string, type: 'QrCode' | 'Barcode', options: object) =>
      api.schema.createField.mutate({
        tableId: table.tableId,
        field: { title, type, options: { valueFieldId, ...options } },
      })
    const qr = await make('Qr', 'QrCode', {})
    const ean = await make('Ean', 'Barcode', { format: 'EAN13' })
    const grid = await tests.openTable(table, owner)
    const { page } = grid
    await grid.cell(0, qr.id).locator('svg').waitFor()
    await grid.cell(0, ean.id).locator('svg').waitFor()
    expect(await grid.cell(1, ean.id).textContent()).toBe('“abc” is not valid for EAN13')
    expect(await grid.cell(2, qr.id).locator('svg').count()).toBe(0)
    await grid.cell(0, qr.id).dblclick()
    const dialog = page.getByRole('dialog', { name: 'Qr' })
    await dialog.getByTestId('code-large').locator('svg').waitFor()
    const { plain } = await copied(page, () => dialog.getByRole('button', { name: 'Copy text' }).click())
    expect(plain).toBe('4006381333931')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'PNG' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('Qr-4006381333931.png')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await grid.cell(0, ean.id).click()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Ean' }).getByText('4006381333931').waitFor()
  })
})
