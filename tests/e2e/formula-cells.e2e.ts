import { describe, expect, test } from 'bun:test'
import { FIELDS, ROWS, startField, withField } from './formula-page.ts'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

describe('a formula in the grid', () => {
  test('follows an edit of what it reads, and says on a double click how it comes about', async () => {
    const grid = await tests.openTable(
      await withField(tests, 'Formula', 'Total', { formula: '{Price} * {Amount}' }),
    )
    const { page } = grid
    await grid.cell(0, 'Amount').click()
    await page.keyboard.type('10')
    await page.keyboard.press('Enter')
    const total = await eventually(
      () => grid.column('Total', 1),
      ([text]) => text === '15',
    )
    expect(total).toEqual(['15'])
    // As it is, but for what binary fractions add to it.
    await grid.shows('Total', ['15', '0.3'])
    await grid.cell(0, 'Total').dblclick()
    const dialog = page.getByTestId('explain-formula')
    await dialog.getByRole('row', { name: 'Amount 10' }).waitFor()
    expect(await dialog.locator('pre').textContent()).toBe('{Price} * {Amount}')
    expect(await dialog.getByRole('row').allTextContents()).toEqual(['Price1.50', 'Amount10', 'Result15'])
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(0)
    await page.keyboard.press('Enter')
    await dialog.waitFor()
  })

  test('becomes a field of the values of this moment, after a look at them', async () => {
    const grid = await tests.openTable(
      await withField(tests, 'Formula', 'Total', { formula: '{Price} * {Amount}' }),
    )
    const { page } = grid
    await grid.header('Total').dblclick()
    await page.getByTestId('field-type').click()
    await page.keyboard.type('decimal')
    await page.keyboard.press('Enter')
    await page.getByText('All 2 values will be converted.').waitFor()
    await page.getByRole('button', { name: 'Save field' }).click()
    const frozen = await eventually(
      () => grid.column('Total', 2),
      ([text]) => text === '6.00',
    )
    expect(frozen).toEqual(['6.00', '0.30'])
    await grid.cell(0, 'Total').click()
    await page.keyboard.type('9')
    await page.keyboard.press('Enter')
    await grid.shows('Total', ['9.00'])
  })

  test('is named before the field it reads is deleted, and says then what it misses', async () => {
    const grid = await tests.openTable(
      await withField(tests, 'Formula', 'Total', { formula: '{Price} * {Amount}' }),
    )
    const { page } = grid
    await grid.header('Amount').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete field' }).click()
    expect(await page.getByTestId('dependents').textContent()).toBe(
      'field “Total” of Tasks is computed from it and stays empty',
    )
    await page.getByRole('button', { name: 'Delete field' }).click()
    const missing = "Column 'Amount' was deleted"
    const texts = await eventually(
      () => grid.column('Total', 1),
      ([text]) => text === missing,
    )
    expect(texts).toEqual([missing])
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(
      await eventually(
        () => grid.column('Total', 1),
        ([text]) => text === '6',
      ),
    ).toEqual(['6'])
  })
})

describe('a table that others are computed from', () => {
  test('says so before it is deleted, and stays where one thinks better of it', async () => {
    const table = await withField(tests, 'Formula', 'Total', { formula: '{Price} * {Amount}' })
    const api = tests.app().trpc(tests.owner().token)
    const { baseId, tableId } = table
    const { table: other } = await api.schema.createTable.mutate({ baseId, title: 'Projects' })
    const field = {
      type: 'Links' as const,
      title: 'Jobs',
      options: { kind: 'hm', relatedTableId: tableId },
    }
    const link = await api.schema.createField.mutate({ tableId: other.id, field })
    const total = table.schema.fields.find(({ title }) => title === 'Total')?.id
    const sum = { relationFieldId: link.id, targetFieldId: total, function: 'sum' }
    await api.schema.createField.mutate({
      tableId: other.id,
      field: { type: 'Rollup', title: 'All of it', options: sum },
    })
    const { page, writes } = await tests.openTable(table)
    await page.locator('a', { hasText: 'Tasks' }).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete table' }).click()
    const lines = page.getByTestId('dependents').getByRole('listitem')
    await lines.first().waitFor()
    expect((await lines.allTextContents()).sort()).toEqual([
      'field “All of it” of Projects is computed from it and stays empty',
      'field “Jobs” of Projects is deleted too',
    ])
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(writes()).toEqual([])
  })
})

describe('a button', () => {
  const ADDRESS = 'CONCAT("https://example.com/", {Title})'

  test('is made with its words and looks', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await startField(grid, 'button')
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByLabel('Label').fill('Look up')
    await page.getByLabel('Colour').selectOption({ label: 'Green' })
    await page.getByTestId('formula-input').fill('{Price}')
    await page.getByTestId('formula-problem').waitFor()
    await page.getByTestId('formula-input').fill(ADDRESS)
    await page.getByTestId('formula-result').first().waitFor()
    await page.getByRole('button', { name: 'Add field', exact: true }).last().click()
    const link = page.getByRole('gridcell').getByRole('link', { name: 'Look up' }).first()
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe('https://example.com/Pen')
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
  })

  async function openGo() {
    const formula = 'IF({Title} = "Pen", "https://example.com/x", "javascript:alert(1)")'
    const grid = await tests.openTable(await withField(tests, 'Button', 'Go', { label: 'Go', formula }))
    await grid.context.route('https://example.com/**', (route) => route.fulfill({ body: 'there' }))
    return grid
  }

  test('opens its address by a click, also where it stands half out of sight', async () => {
    const grid = await openGo()
    const opened = grid.context.waitForEvent('page')
    await grid.cell(0, 'Go').getByRole('link').click()
    await (await opened).waitForURL('https://example.com/x')
  })

  test('opens its address by Enter, and never what a browser should not open', async () => {
    const grid = await openGo()
    const { page, context } = grid
    const bad = grid.cell(1, 'Go').getByRole('button')
    expect(await bad.isDisabled()).toBe(true)
    expect(await bad.getAttribute('title')).toContain('is not a valid URL')
    await grid.cell(1, 'Unit (net) price').click()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByText('is not a valid URL').waitFor()
    expect(grid.openedPages()).toEqual([])
    const opened = context.waitForEvent('page')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await (await opened).waitForURL('https://example.com/x')
  })
})
