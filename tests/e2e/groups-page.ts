import { expect } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { eventually, type GridPage, gridTests, type OpenTable } from './grid-page.ts'

export const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  {
    title: 'Status',
    type: 'SingleSelect' as const,
    options: { choices: ['Todo', 'Doing', 'Done'].map((title) => ({ title })) },
  },
  { title: 'Points', type: 'Number' as const },
  { title: 'Urgent', type: 'Checkbox' as const },
]
export const ROWS: CellValue[][] = [
  ['paint', 'Done', 3, false],
  ['saw', 'Todo', 5, true],
  ['measure', null, 1, false],
  ['glue', 'Done', 4, true],
  ['draw', 'Todo', 2, false],
  ['sand', 'Done', 10, false],
]
/** The headers of `ROWS`, grouped by their status. */
export const BY_STATUS = ['Status: (Empty), 1 record', 'Status: Todo, 2 records', 'Status: Done, 3 records']

/** `gridTests` with tables that are grouped. */
export function groupTests() {
  const tests = gridTests()

  /** A table that is grouped by these fields, and sums up its points. */
  async function createGrouped(by: string[], rows: CellValue[][] = ROWS): Promise<OpenTable> {
    const table = await tests.createTable(FIELDS, rows)
    const api = tests.app().trpc(tests.owner().token)
    const [view] = table.schema.views
    const idOf = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? ''
    const viewId = view?.id ?? ''
    const groups = by.map((title) => ({ fieldId: idOf(title), direction: 'asc' as const }))
    await api.views.update.mutate({ viewId, patch: { groups } })
    await api.views.arrange.mutate({ viewId, fields: [{ fieldId: idOf('Points'), summary: 'sum' }] })
    return table
  }

  return { ...tests, createGrouped }
}

/** The headers from the top, as a screen reader says them: `Status: Done, 3 records`. */
const headers = (page: GridPage['page']): Promise<string[]> =>
  page.getByTestId('group').evaluateAll((all) =>
    all
      .map((one) => ({ top: one.getBoundingClientRect().top, label: one.getAttribute('aria-label') ?? '' }))
      .sort((a, b) => a.top - b.top)
      .map(({ label }) => label.replace('Group ', '')),
  )

export const untilHeaders = async ({ page }: GridPage, wanted: string[]) =>
  expect(
    await eventually(
      () => headers(page),
      (now) => now.join() === wanted.join(),
    ),
  ).toEqual(wanted)

/** The header of the group of this value. */
export const group = (page: GridPage['page'], name: string) =>
  page
    .getByTestId('group')
    .filter({ has: page.getByRole('button', { name: new RegExp(`(Collapse|Expand) ${name}$`) }) })
