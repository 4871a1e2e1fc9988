import { describe, expect, test } from 'bun:test'
import { eventually, type GridPage, gridTests, type OpenTable } from './grid-page.ts'

const tests = gridTests()

const api = () => tests.app().trpc(tests.owner().token)

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Status', type: 'SingleSelect' as const, options: { choices: [{ title: 'Open' }] } },
]

/** Holds the answers to calls of one procedure back until the returned function is called. */
async function holdAnswers({ page }: GridPage, procedure: string): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route(`**/trpc/${procedure}*`, async (route) => {
    const response = await route.fetch()
    await released.promise
    await route.fulfill({ response })
  })
  return released.resolve
}

const optionsOf = async ({ tableId }: OpenTable): Promise<string[]> => {
  const { fields } = await api().schema.table.query({ tableId })
  const choices = fields.find(({ title }) => title === 'Status')?.options.choices as { title: string }[]
  return choices.map(({ title }) => title)
}

describe('options made one after the other', () => {
  test('both stay while the first one is not answered yet', async () => {
    const table = await tests.createTable(FIELDS, [['A'], ['B']])
    const grid = await tests.openTable(table)
    const { page } = grid
    const release = await holdAnswers(grid, 'schema.*')
    for (const [row, title] of ['Alpha', 'Beta'].entries()) {
      await grid.cell(row, 'Status').click()
      await page.keyboard.type(title)
      await page.getByTestId('create-option').click()
      await page.keyboard.press('Escape')
    }
    release()
    const options = await eventually(
      () => optionsOf(table),
      (titles) => titles.includes('Beta'),
    )
    expect(options).toEqual(['Open', 'Alpha', 'Beta'])
  })
})
