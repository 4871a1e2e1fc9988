import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { gridTests, type OpenTable } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]
const LONG = 'Orders of the northern region, with partners and subsidiaries'

const api = () => tests.app().trpc(tests.owner().token)
const rows = (page: Page) => page.getByTestId('trashed-item')
const row = (page: Page, text: string) => rows(page).filter({ hasText: text })
const go = (page: Page, path: string) =>
  page.evaluate((hash) => {
    location.hash = hash
  }, path)
const remove = ({ baseId, tableId }: OpenTable, ids: number[]) =>
  api().records.write.mutate({ change: { baseId, operations: [{ kind: 'delete', tableId, ids }] } })
/** Everything that earlier tests deleted goes, as the owner sees all bases. */
async function emptyAll(): Promise<void> {
  let cursor: string | null = null
  do {
    const part: { next: string | null } = await api().trash.emptyAll.mutate({ cursor })
    cursor = part.next
  } while (cursor !== null)
}

describe('the page of the trash', () => {
  test('has a deleted base and a record of another one, which are restored together', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [['Pear'], ['Plum']])
    const base = await api().bases.get.query({ baseId: table.baseId })
    const grid = await tests.openTable(table)
    const { page } = grid
    await remove(table, [1])
    const gone = await api().bases.create.mutate({ title: 'Cellar' })
    await api().bases.delete.mutate({ baseId: gone.id })

    await page.getByRole('link', { name: 'Trash' }).click()
    await row(page, 'Pear').waitFor()
    const chosen = page.getByRole('combobox', { name: 'Base', exact: true })
    expect(await chosen.inputValue()).toBe(table.baseId)
    expect(await rows(page).count()).toBe(1)
    expect(await row(page, 'Pear').textContent()).toContain(base.title)
    // The sidebar of the base goes, the page and its focus stay.
    await chosen.focus()
    await chosen.selectOption({ label: 'All bases' })
    await row(page, 'Cellar').waitFor()
    await row(page, 'Pear').waitFor()
    expect(await page.evaluate(() => location.hash)).toBe('#/trash')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Base')

    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Restore 2 items' }).click()
    await page.getByText('2 items restored').waitFor()
    await page.getByText('The trash is empty').waitFor()
    await go(page, `/nc/${table.baseId}/${table.tableId}`)
    await grid.shows('Title', ['Pear', 'Plum'])
    expect((await api().bases.get.query({ baseId: gone.id })).title).toBe('Cellar')
  })

  test('gives the focus of a restored row to the next one, or the last', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [['Fig'], ['Date'], ['Lime']])
    const { page } = await tests.openTable(table)
    await remove(table, [1])
    await remove(table, [2])
    await remove(table, [3])
    await go(page, `/nc/${table.baseId}/trash`)
    await row(page, 'Fig').waitFor()
    const hasFocus = (title: string) =>
      page.waitForFunction(
        (name) => document.activeElement?.getAttribute('aria-label') === name,
        `Select ${title}`,
      )
    // The latest deletion comes first.
    await row(page, 'Date').getByRole('button', { name: 'Restore' }).press('Enter')
    await row(page, 'Date').waitFor({ state: 'detached' })
    await hasFocus('Fig')
    await row(page, 'Fig').getByRole('button', { name: 'Delete Fig forever' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete forever' }).press('Enter')
    await row(page, 'Fig').waitFor({ state: 'detached' })
    await hasFocus('Lime')
  })

  test('shows each role what it may restore, and offers no button that the server would refuse', async () => {
    await emptyAll()
    const [edited, created, viewed] = [
      await tests.createTable(FIELDS, [['Pear']]),
      await tests.createTable(FIELDS, [['Plum']]),
      await tests.createTable(FIELDS, [['Fig']]),
    ]
    const member = await createMember(tests.app(), edited.baseId, 'editor')
    const { access } = tests.app().services.auth
    await access.setMembership(created.baseId, member.id, 'creator')
    await access.setMembership(viewed.baseId, member.id, 'viewer')
    for (const table of [edited, created, viewed]) {
      await remove(table, [1])
      const view = await api().views.create.mutate({ tableId: table.tableId, title: 'Wide', kind: 'grid' })
      await api().views.delete.mutate({ viewId: view.id })
    }
    const gone = await api().bases.create.mutate({ title: 'Cellar' })
    await access.setMembership(gone.id, member.id, 'creator')
    await api().bases.delete.mutate({ baseId: gone.id })

    const { page } = await tests.openTable(edited, member)
    await go(page, '/trash')
    await row(page, 'Plum').waitFor()
    expect(await rows(page).count()).toBe(3)
    expect(await row(page, 'Wide').getByRole('button', { name: 'Delete Wide forever' }).count()).toBe(1)
    expect(await row(page, 'Pear').getByRole('button').allInnerTexts()).toEqual(['Restore'])
    const titleOf = async ({ baseId }: OpenTable) => (await api().bases.get.query({ baseId })).title
    const choice = page.getByRole('combobox', { name: 'Base', exact: true })
    expect(await choice.getByRole('option').allInnerTexts()).toEqual([
      'All bases',
      await titleOf(edited),
      await titleOf(created),
    ])
    // An editor of this base sees no views, no way to empty its trash, and no control for how long it keeps items.
    await choice.selectOption({ label: await titleOf(edited) })
    await row(page, 'Plum').waitFor({ state: 'detached' })
    await row(page, 'Pear').waitFor()
    expect(await page.getByRole('combobox', { name: 'Kind' }).getByRole('option').allInnerTexts()).toEqual([
      'Everything',
      'Records',
      'Files',
    ])
    await page.getByText('Deleted items are kept for 30 days').waitFor()
    expect(await page.getByRole('combobox', { name: 'Keep deleted items for' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Empty trash' }).count()).toBe(0)
    await go(page, `/nc/${viewed.baseId}/trash`)
    await page.getByText('Only editors of this base can see its trash').waitFor()
    await page.getByRole('button', { name: 'Show the trash of all bases' }).click()
    await row(page, 'Plum').waitFor()
  })

  test('filters all bases by kind, person and text in an address that can be kept', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [['Pear'], ['Plum']])
    const member = await createMember(tests.app(), table.baseId, 'editor')
    await remove(table, [1])
    await tests
      .app()
      .trpc(member.token)
      .records.write.mutate({
        change: { baseId: table.baseId, operations: [{ kind: 'delete', tableId: table.tableId, ids: [2] }] },
      })
    const gone = await api().bases.create.mutate({ title: 'Pears of the year' })
    await api().bases.delete.mutate({ baseId: gone.id })
    const { page } = await tests.openTable(table)
    await go(page, `/trash?kind=record&by=${member.id}`)
    await row(page, 'Plum').waitFor()
    expect(await rows(page).count()).toBe(1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rows(page).nth(2).waitFor()
    await page.getByRole('searchbox', { name: 'Search the trash' }).fill('pear')
    await row(page, 'Plum').waitFor({ state: 'detached' })
    await rows(page).nth(1).waitFor()
    expect(await rows(page).count()).toBe(2)
    await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Bases' })
    await row(page, 'Pear').nth(1).waitFor({ state: 'detached' })
    expect(await page.evaluate(() => location.hash)).toBe('#/trash?kind=base')
    await page.getByRole('searchbox', { name: 'Search the trash' }).fill('fig')
    await page.getByText('Nothing in the trash matches').waitFor()
  })

  test('empties all bases once that is typed, and deletes items of several bases with a base after their number', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [['Pear'], ['Plum']])
    await remove(table, [1])
    const gone = await api().bases.create.mutate({ title: 'Cellar' })
    await api().bases.delete.mutate({ baseId: gone.id })
    const { page } = await tests.openTable(table)
    await go(page, '/trash')
    await row(page, 'Cellar').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Delete forever', exact: true }).click()
    const agree = page.getByRole('dialog').getByRole('button', { name: 'Delete forever', exact: true })
    expect(await agree.isDisabled()).toBe(true)
    await page.getByLabel('Type “2” to confirm').fill('2')
    await agree.click()
    await page.getByText('2 items deleted forever').waitFor()
    await page.getByText('The trash is empty').waitFor()

    await remove(table, [2])
    await page.reload()
    await row(page, 'Plum').waitFor()
    await page.getByRole('button', { name: 'Empty trash' }).click()
    await page.getByLabel('Type “All bases” to confirm').fill('All bases')
    await agree.click()
    await page.getByText('1 item deleted forever').waitFor()
    await page.getByText('The trash is empty').waitFor()
  })

  test('leads from the trash of a deleted base to that of all bases', async () => {
    const table = await tests.createTable(FIELDS, [['Pear']])
    const other = await tests.createTable(FIELDS, [['Plum']])
    await api().bases.update.mutate({ baseId: table.baseId, title: 'Attic' })
    const grid = await tests.openTable(other)
    const { page } = grid
    await api().bases.delete.mutate({ baseId: table.baseId })
    await go(page, `/nc/${table.baseId}/trash`)
    await page.getByText('This base can’t be opened').waitFor()
    await page.getByRole('button', { name: 'Show the trash of all bases' }).click()
    await row(page, 'Attic').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('“Attic” was restored').waitFor()
    await go(page, `/nc/${table.baseId}/trash`)
    await page.getByText('The trash is empty').waitFor()
    // The browser reports the 404s by which the page learned that the base was gone.
    grid.problems.splice(0)
  })

  test('fits into a narrow window, with long titles, in both directions', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [[`${LONG} of this year`], [LONG]])
    await api().bases.update.mutate({ baseId: table.baseId, title: LONG })
    await api().schema.updateTable.mutate({ tableId: table.tableId, title: `${LONG}, all` })
    await remove(table, [1, 2])
    const gone = await api().bases.create.mutate({ title: `${LONG} of last year` })
    await api().bases.delete.mutate({ baseId: gone.id })
    const { page } = await tests.openTable(table, tests.owner(), { viewport: { width: 400, height: 800 } })
    for (const dir of ['ltr', 'rtl']) {
      await page.evaluate((wanted) => {
        document.documentElement.dir = wanted
      }, dir)
      for (const path of ['/trash', `/nc/${table.baseId}/trash`]) {
        await go(page, path)
        await rows(page).first().waitFor()
        const outside = await page.evaluate(() =>
          [...document.querySelectorAll('main *')]
            .filter((element) => {
              const { left, right, width } = element.getBoundingClientRect()
              return width > 0 && (left < -1 || right > innerWidth + 1)
            })
            .map((element) => element.outerHTML.slice(0, 200)),
        )
        expect(outside, `${path} ${dir}`).toEqual([])
      }
    }
  })

  test('tells that there are more bases than it reads at once, and goes on', async () => {
    await emptyAll()
    const table = await tests.createTable(FIELDS, [['Pear']])
    await remove(table, [1])
    for (let n = 0; n < 101; n++) await api().bases.create.mutate({ title: `Shelf ${n}` })
    const { page } = await tests.openTable(table)
    await go(page, '/trash')
    await page.getByText('with older changes').waitFor()
    await page.getByText('Nothing found in the bases that were changed last').waitFor()
    expect(await page.getByText('The trash is empty').count()).toBe(0)
    await page.getByRole('button', { name: 'Search more bases' }).click()
    await row(page, 'Pear').waitFor()
    await page.getByText('with older changes').waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Search more bases' }).count()).toBe(0)
  })
})
