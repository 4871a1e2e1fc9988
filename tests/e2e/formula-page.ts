import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { GridPage, gridTests, OpenTable } from './grid-page.ts'

/** Things with a price and an amount. */
export const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Price', type: 'Decimal' as const },
  { title: 'Amount', type: 'Number' as const },
  { title: 'Unit (net) price', type: 'Decimal' as const },
]
export const ROWS: CellValue[][] = [
  ['Pen', 1.5, 4, 2],
  ['Ink', 0.1, 3, 0.5],
]

/** Opens the editor of a new field of that type. */
export async function startField(grid: GridPage, type: string): Promise<void> {
  const { page } = grid
  await page.getByRole('button', { name: 'Add field' }).first().click()
  await page.getByTestId('field-type').click()
  await page.keyboard.type(type)
  await page.keyboard.press('Enter')
  await page.getByTestId('formula-input').waitFor()
}

/** The formula that stands in the editor. */
export const written = (grid: GridPage): Promise<string> =>
  grid.page.getByTestId('formula-input').inputValue()

/** A table with a field of one more, made at the door. */
export async function withField(
  tests: ReturnType<typeof gridTests>,
  type: 'Formula' | 'Button',
  title: string,
  options: object,
): Promise<OpenTable> {
  const table = await tests.createTable(FIELDS, ROWS)
  const api = tests.app().trpc(tests.owner().token)
  await api.schema.createField.mutate({
    tableId: table.tableId,
    field: { type, title, options: { ...options } },
  })
  return { ...table, schema: await api.schema.table.query({ tableId: table.tableId }) }
}
