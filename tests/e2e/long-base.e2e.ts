import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createBase } from '../support/factories.ts'
import { eventually, gridTests, textOf, untilDraggable } from './grid-page.ts'
import { tree } from './shell-page.ts'

const tests = gridTests()

const TABLES = 150
const titleOf = (n: number) => `Table ${String(n).padStart(3, '0')}`

/** A base of many tables, in a browser that has opened one of them. */
async function openBase(at: number) {
  const api = tests.app().trpc(tests.owner().token)
  const base = await createBase(tests.app(), tests.owner())
  const fields = [{ title: 'Name', type: 'SingleLineText' as const }]
  for (let n = 0; n < TABLES; n++) {
    await api.schema.createTable.mutate({ baseId: base.id, title: titleOf(n), fields })
  }
  const tables = await api.schema.tables.query({ baseId: base.id })
  const tableId = tables[at]?.id ?? ''
  const schema = await api.schema.table.query({ tableId })
  const grid = await tests.openTable({ schema, baseId: base.id, tableId })
  const titles = async () => (await api.schema.tables.query({ baseId: base.id })).map(({ title }) => title)
  return { ...grid, titles }
}

/** A table's line; the first of its views has its name, and stands below it. */
const line = (page: Page, n: number) =>
  tree(page)
    .getByRole('link', { name: titleOf(n), exact: true })
    .first()
const isInSight = (page: Page, n: number) =>
  line(page, n).evaluate((link) => {
    const { top, bottom } = link.getBoundingClientRect()
    const box = link.closest('nav')?.getBoundingClientRect()
    return box !== undefined && top >= box.top && bottom <= box.bottom
  })
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '')
const scrollTree = (page: Page, top: number) =>
  tree(page).evaluate((nav, to) => nav.scrollTo({ top: to }), top)

describe('a base of many tables', () => {
  test('has in the document what is in sight, with the table that is open', async () => {
    const { page, calls } = await openBase(120)
    await line(page, 120).waitFor()
    expect(await isInSight(page, 120)).toBe(true)
    expect(await tree(page).getByRole('link').count()).toBeLessThan(60)
    const item = tree(page).locator('[aria-posinset="121"][aria-setsize="150"]')
    expect(await item.getByRole('link').allTextContents()).toEqual([titleOf(120)])
    await scrollTree(page, 0)
    await line(page, 0).waitFor()

    // Each row of the overview counts its records, so those that nobody sees are not asked for.
    calls.length = 0
    await page.getByRole('link', { name: 'Overview' }).click()
    const row = (n: number) => page.getByRole('row', { name: titleOf(n) })
    // Its name and its number.
    const counted = async (n: number) =>
      expect(
        await eventually(
          () => row(n).getByRole('cell').allTextContents(),
          (cells) => cells[1] === '0' && cells[2] === '2',
        ),
      ).toEqual([titleOf(n), '0', '2', expect.any(String)])
    await counted(0)
    expect(calls.filter((call) => call === 'records.count').length).toBeLessThan(60)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.locator('#content').evaluate((content) => content.scrollTo({ top: content.scrollHeight }))
    await counted(TABLES - 1)
    expect(await row(TABLES - 1).getAttribute('aria-rowindex')).toBe(String(TABLES + 1))
  })

  test('is gone through by keyboard from end to end, and keeps the focus on a line out of sight', async () => {
    const { page } = await openBase(0)
    await line(page, 0).focus()
    await page.keyboard.press('End')
    expect(await focused(page)).toBe(titleOf(TABLES - 1))
    expect(await isInSight(page, TABLES - 1)).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toBe(titleOf(TABLES - 2))
    await page.keyboard.press('Home')
    for (let n = 0; n < 60; n++) await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(titleOf(60))
    expect(await isInSight(page, 60)).toBe(true)
    await scrollTree(page, 0)
    await line(page, 0).waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(titleOf(61))
    await page.keyboard.press('ArrowRight')
    await tree(page).locator('ul ul').getByRole('link').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(titleOf(62))
    await page.getByPlaceholder('Search').first().fill('149')
    await line(page, 149).waitFor()
    expect(await line(page, 0).count()).toBe(0)
  })

  test('takes a table that is dragged beyond what was in sight', async () => {
    const { page, titles } = await openBase(0)
    const from = await line(page, 2).boundingBox()
    const box = await tree(page).boundingBox()
    if (!from || !box) throw new Error('nothing to drag')
    await page.mouse.move(from.x + 40, from.y + 10)
    await untilDraggable(page)
    await page.mouse.down()
    await page.mouse.move(from.x + 40, from.y + 60, { steps: 4 })
    await page.mouse.move(from.x + 40, box.y + box.height - 6, { steps: 8 })
    // Held at the edge the list goes on under the pointer.
    await line(page, 60).waitFor()
    await page.mouse.move(from.x + 40, box.y + box.height / 2, { steps: 8 })
    expect(await textOf(line(page, 2))).toBe(titleOf(2))
    await page.mouse.up()
    const order = await eventually(titles, (all) => all.indexOf(titleOf(2)) > 30)
    expect(order.indexOf(titleOf(2))).toBeGreaterThan(30)
    expect(order.filter((title) => title !== titleOf(2))).toEqual(order.toSorted().toSpliced(2, 1))
    expect(order).toHaveLength(TABLES)
  })

  test('loads drag and drop with the first press on a table, and drags with that press', async () => {
    const { page, titles } = await openBase(0)
    const requested: string[] = []
    await page.route('**/sortable-dragging-*.js', async (route) => {
      requested.push(route.request().url())
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    const from = await line(page, 2).boundingBox()
    const to = await line(page, 5).boundingBox()
    if (!from || !to) throw new Error('nothing to drag')
    expect(requested).toEqual([])
    const loaded = page.waitForResponse('**/sortable-dragging-*.js')
    await page.mouse.move(from.x + 40, from.y + 10)
    await page.mouse.down()
    await loaded
    expect(requested).toHaveLength(1)
    // The drag begins with one of these moves, whichever comes first after the script has run.
    await eventually(
      async () => {
        await page.mouse.move(from.x + 40, from.y + 50, { steps: 3 })
        await page.mouse.move(to.x + 40, to.y + 12, { steps: 3 })
        return line(page, 2).evaluate((link) => link.closest<HTMLElement>('[style*="opacity"]') !== null)
      },
      (isDragged) => isDragged,
    )
    await page.mouse.up()
    const order = await eventually(titles, (all) => all.indexOf(titleOf(2)) === 5)
    expect(order.indexOf(titleOf(2))).toBe(5)
  })
})
