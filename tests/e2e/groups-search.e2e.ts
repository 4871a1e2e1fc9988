import { describe, expect, test } from 'bun:test'
import { eventually } from './grid-page.ts'
import { BY_STATUS, group, groupTests, untilHeaders } from './groups-page.ts'

const tests = groupTests()

describe('a search in a grouped view', () => {
  test('opens what a search finds for as long as it lasts, and remembers what was closed by hand', async () => {
    const grid = await tests.openTable(await tests.createGrouped(['Status', 'Urgent']))
    const { page } = grid
    const rows = () => page.getByTestId('row').count()
    const untilRows = async (wanted: number) =>
      expect(await eventually(rows, (count) => count === wanted)).toBe(wanted)
    await untilRows(6)
    await group(page, 'Done').getByTestId('group-toggle').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Collapse all groups' }).click()
    await untilRows(0)

    // Only what is found: "glue" and "measure" lie in groups that were closed, at both levels.
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('u')
    await untilHeaders(grid, [
      'Status: (Empty), 1 record',
      'Urgent: Not checked, 1 record',
      'Status: Done, 1 record',
      'Urgent: Checked, 1 record',
    ])
    await untilRows(2)
    await grid.shows('Title', ['measure', 'glue'])
    // One may close groups meanwhile; another search has its own.
    await group(page, 'Done').getByTestId('group-toggle').click()
    await untilRows(1)
    await page.getByTestId('search-input').fill('ue')
    await untilHeaders(grid, ['Status: Done, 1 record', 'Urgent: Checked, 1 record'])
    await untilRows(1)
    await page.getByTestId('search-input').press('Escape')
    await untilHeaders(grid, BY_STATUS)
    await untilRows(0)

    // From hit to hit: the group of a hit is opened, and closed again at the next visit.
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-filters').click()
    await page.keyboard.type('glue')
    await grid.cell(5, 'Title').waitFor()
    await untilRows(1)
    await page.getByTestId('search-input').press('Escape')
    await untilRows(1)
    await page.reload()
    await untilHeaders(grid, BY_STATUS)
    await untilRows(0)
  })
})
