import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf, untilCount } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  {
    title: 'Status',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Open', color: '#cfdffe' }, { title: 'Done' }] },
  },
  { title: 'Stock', type: 'Number' as const },
]
const ROWS = [
  ['apple', 'Open', 5],
  ['banana', 'Done', 20],
  ['cherry', 'Open', 30],
]

const tree = (page: Page) => page.getByRole('navigation', { name: 'Tables' })
const viewLink = (page: Page, title: string) =>
  tree(page).locator('ul ul').getByRole('link', { name: title, exact: true })
const menuOf = (page: Page, title: string) =>
  tree(page).getByRole('button', { name: `Options for view ${title}` })
const item = (page: Page, name: string | RegExp) => page.getByRole('menuitem', { name })

/** The table on the screen, as the server has it. */
const readTable = (page: Page) =>
  tests
    .app()
    .trpc(tests.owner().token)
    .schema.table.query({ tableId: new URL(page.url()).hash.split('/')[3] ?? '' })

/** Chooses a kind from the "+" of the table's node. */
async function newView(page: Page, kind: string): Promise<void> {
  await tree(page).getByRole('link', { name: 'Tasks', exact: true }).first().hover()
  await page.getByRole('button', { name: 'New view of Tasks' }).click()
  await item(page, new RegExp(`New ${kind} view`)).click()
  await page.getByRole('dialog', { name: `New ${kind} view` }).waitFor()
}

describe('views of a table', () => {
  test('of each kind are made by name and Enter; what a kind lacks is made with it', async () => {
    const { page } = await tests.open(FIELDS, ROWS)
    for (const kind of ['grid', 'form', 'gallery', 'kanban', 'calendar', 'map']) {
      await newView(page, kind)
      await page.keyboard.type(`My ${kind}`)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await viewLink(page, `My ${kind}`).and(page.locator('[aria-current]')).waitFor()
    }
    const schema = await readTable(page)
    const titles = schema.fields.map((field) => field.title)
    // Stacks by the select that is there; a date and a place it had not.
    expect(titles).toEqual(expect.arrayContaining(['Date', 'Place']))
    expect(titles.filter((title) => title.startsWith('Status'))).toHaveLength(1)
    const options = (kind: string) => schema.views.find((view) => view.kind === kind)?.options
    const fieldId = (title: string) => schema.fields.find((field) => field.title === title)?.id
    expect(options('kanban')).toMatchObject({ stackFieldId: fieldId('Status') })
    expect(options('calendar')).toMatchObject({ ranges: [{ fromFieldId: fieldId('Date') }] })
    expect(options('map')).toMatchObject({ geoFieldId: fieldId('Place') })
  })

  test('are renamed in place, described, given an icon, copied, deleted and brought back', async () => {
    const { page } = await tests.open(FIELDS, ROWS)
    await newView(page, 'grid')
    await page.keyboard.type('First')
    await page.getByLabel('Copy from').selectOption({ label: 'Tasks' })
    await page.keyboard.press('Enter')
    await viewLink(page, 'First').waitFor()
    await viewLink(page, 'First').dblclick()
    await page.getByLabel('New name').fill('Second')
    await page.keyboard.press('Enter')
    await viewLink(page, 'Second').waitFor()

    await viewLink(page, 'Second').click({ button: 'right' })
    await item(page, 'Icon').click()
    await page.getByLabel('Find an icon').fill('rocket')
    await page.keyboard.press('Enter')
    await viewLink(page, 'Second').getByText('🚀').waitFor()

    // The same menu stands in the top bar.
    await page.getByRole('banner').getByRole('button', { name: 'Options for view Second' }).click()
    await item(page, 'Description').click()
    await page.getByLabel('Describe this view').fill('Only the open ones')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await viewLink(page, 'Second').hover()
    await page.getByRole('tooltip').getByText('Only the open ones').waitFor()

    await menuOf(page, 'Second').click()
    await item(page, 'Duplicate').click()
    await viewLink(page, 'Second_1').waitFor()
    await menuOf(page, 'Second_1').click()
    await item(page, 'Delete view').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click()
    await viewLink(page, 'Second_1').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await viewLink(page, 'Second_1').and(page.locator('[aria-current]')).waitFor()
  })

  test('colour their records by an option or by the first condition that is met', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const colors = () =>
      page.getByTestId('row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-color')))
    await page.getByTestId('color-button').click()
    await page.getByLabel('By select field').check()
    await page.getByLabel('Apply colour to').selectOption({ label: 'Whole record' })
    await eventually(colors, (all) => all.every((color) => color === 'ground'))
    expect(await colors()).toEqual(['ground', 'ground', 'ground'])
    await page.getByLabel('By conditions').check()
    const rule = page.getByTestId('color-rule')
    await rule.getByLabel('Field').selectOption({ label: 'Stock' })
    await rule.getByLabel('Operator').selectOption({ label: '>' })
    await rule.getByLabel('Value').fill('10')
    await eventually(colors, ([first, second]) => first === null && second === 'bar')
    expect(await colors()).toEqual([null, 'bar', 'bar'])
    expect(await textOf(page.getByTestId('color-button'))).toContain('1')
    await page.keyboard.press('Escape')
    // It follows what is written.
    await grid.cell(0, 'Stock').click()
    await page.keyboard.type('11')
    await page.keyboard.press('Enter')
    await eventually(colors, ([first]) => first === 'bar')
    expect(await colors()).toEqual(['bar', 'bar', 'bar'])
  })
})

describe('a view that one may not change for everyone', () => {
  test('is tried out for the visit: locked for all, until it is unlocked and saved', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await page.getByTestId('view-more').click()
    await page.getByRole('menuitemradio', { name: /^Locked/ }).click()
    await eventually(
      async () => (await readTable(page)).views[0]?.lock,
      (lock) => lock === 'locked',
    )
    await page.getByRole('img', { name: /^Locked/ }).waitFor()
    grid.calls.length = 0
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.getByLabel('Value').fill('an')
    await untilCount(grid, '1 record')
    await page.keyboard.press('Escape')
    const kept = page.getByTestId('kept-changes')
    await kept.waitFor()
    expect(await kept.getByRole('button').allTextContents()).toEqual(['Save as new view', 'Discard'])
    expect(grid.writes()).toEqual([])

    await kept.getByRole('button', { name: 'Discard' }).click()
    await untilCount(grid, '3 records')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await untilCount(grid, '1 record')
    await page.getByTestId('view-more').click()
    await page.getByRole('menuitemradio', { name: /^Collaborative/ }).click()
    await kept.getByRole('button', { name: 'Save for everyone' }).click()
    await kept.waitFor({ state: 'detached' })
    await page.reload()
    await untilCount(grid, '1 record')

    // What is tried out on a locked view makes a view of one's own.
    await page.getByTestId('view-more').click()
    await page.getByRole('menuitemradio', { name: /^Locked/ }).click()
    await page.getByRole('img', { name: /^Locked/ }).waitFor()
    await page.getByTestId('sort-button').click()
    await page.getByRole('button', { name: 'Add sort' }).click()
    await page.keyboard.press('Escape')
    await kept.getByRole('button', { name: 'Save as new view' }).click()
    await page.getByRole('button', { name: /^View Tasks_1/ }).waitFor()
    const { views } = await readTable(page)
    expect(views.map(({ sorts }) => sorts.length)).toEqual([0, 1])
    expect(views[1]?.filter).not.toBe(null)
  })

  test('is kept where the role does not reach, in what is personal to another, and by the switch', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const creator = await createMember(tests.app(), table.baseId, 'creator')
    const owners = await tests.openTable(table)
    const sortByTitle = async (page: Page) => {
      await page.getByTestId('sort-button').click()
      await page.getByRole('button', { name: 'Add sort' }).click()
      await page.getByLabel('Direction').selectOption({ label: 'Z → A' })
      await page.keyboard.press('Escape')
    }
    // Filters and sorts wait until they are saved, where one wants that; other changes do not.
    await owners.page.getByTestId('view-more').click()
    await owners.page.getByRole('menuitemcheckbox', { name: /Save filters and sorts automatically/ }).click()
    await sortByTitle(owners.page)
    await owners.page.getByTestId('kept-changes').waitFor()
    expect(owners.writes()).toEqual([])
    await owners.page.getByRole('button', { name: 'Discard' }).click()
    await owners.page.getByTestId('view-more').click()
    await owners.page.getByRole('menuitemradio', { name: /^Personal/ }).click()
    await owners.page.getByRole('button', { name: 'Views of Tasks' }).click()
    await owners.page.getByRole('img', { name: /Personal view/ }).waitFor()

    for (const user of [viewer, creator]) {
      const theirs = await tests.openTable(table, user)
      await sortByTitle(theirs.page)
      await eventually(
        () => theirs.column('Title', 1),
        ([first]) => first === 'cherry',
      )
      await theirs.page.getByTestId('kept-changes').waitFor()
      expect(await theirs.page.getByRole('button', { name: 'Save for everyone' }).count()).toBe(0)
      expect(theirs.writes()).toEqual([])
    }
    await owners.shows('Title', ['apple'])
  })
})
