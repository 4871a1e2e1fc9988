import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axeViolations } from '../support/axe.ts'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Notes', type: 'LongText' as const },
]
const ROWS = [['Alpha', 'one'], ['Beta'], ['Gamma']]

const marks = (page: Page) => page.getByTestId('other-cell')
const avatars = (page: Page) => page.getByTestId('person-here')

/** Two people in one table. */
async function openTwo() {
  const table = await tests.createTable(FIELDS, ROWS)
  const member = await createMember(tests.app(), table.baseId, 'editor')
  const [mine, theirs] = [await tests.openTable(table), await tests.openTable(table, member)]
  return { table, member, mine, theirs }
}

/** Waits until a person's outline lies on a cell. */
async function liesOn({ page, cell }: GridPage, row: number, title: string): Promise<void> {
  const offset = async () => {
    const [mark, box] = await Promise.all([
      marks(page)
        .first()
        .boundingBox({ timeout: 1000 })
        .catch(() => null),
      cell(row, title).boundingBox(),
    ])
    return mark && box ? Math.abs(mark.x - box.x) + Math.abs(mark.y - box.y) : 9999
  }
  expect(await eventually(offset, (pixels) => pixels < 4)).toBeLessThan(4)
}

describe('people in a base', () => {
  test('see who is there, which cell they selected and that they edit it, until they leave', async () => {
    const { member, mine, theirs } = await openTwo()
    await avatars(mine.page).first().waitFor()
    expect(await avatars(mine.page).count()).toBe(1)
    await theirs.cell(1, 'Title').click()
    await liesOn(mine, 1, 'Title')
    expect((await marks(mine.page).textContent())?.trim()).toBe(member.email)
    await theirs.page.keyboard.press('ArrowDown')
    await theirs.page.keyboard.press('ArrowRight')
    await liesOn(mine, 2, 'Notes')

    await theirs.page.keyboard.type('typing')
    await mine.page.getByText(`${member.email} is editing`).waitFor()
    expect(await marks(mine.page).first().getAttribute('data-editing')).toBe('true')
    await theirs.page.keyboard.press('Escape')
    await mine.page.getByText(`${member.email} is editing`).waitFor({ state: 'detached' })

    await theirs.close()
    await marks(mine.page).first().waitFor({ state: 'detached' })
    await avatars(mine.page).first().waitFor({ state: 'detached' })
    expect([...mine.problems, ...theirs.problems]).toEqual([])
  })

  test('are shown at their table in the sidebar, and their outlines follow when the page turns around', async () => {
    const { table, member, mine, theirs } = await openTwo()
    const line = mine.page.getByTestId('table-people')
    await line.waitFor()
    expect(await line.getAttribute('aria-label')).toBe(`1 other person in this table: ${member.email}`)
    await theirs.cell(1, 'Notes').click()
    await liesOn(mine, 1, 'Notes')
    await mine.page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await liesOn(mine, 1, 'Notes')
    await mine.cell(1, 'Notes').click()
    await mine.page.keyboard.press('ArrowRight')
    const title = mine.cell(1, 'Title')
    await eventually(
      () => title.getAttribute('aria-selected'),
      (selected) => selected === 'true',
    )
    if (process.env.PRESENCE_SHOTS)
      await mine.page.screenshot({ path: `${process.env.PRESENCE_SHOTS}/presence-rtl.png` })
    await tests
      .app()
      .trpc(tests.owner().token)
      .schema.createTable.mutate({ baseId: table.baseId, title: 'Other' })
    await theirs.page.getByRole('link', { name: 'Overview' }).click()
    await line.waitFor({ state: 'detached' })
  })

  test('are one person with several tabs, and are listed with where they are', async () => {
    const { table, member, mine, theirs } = await openTwo()
    const second = await tests.openTable(table, member)
    await second.cell(2, 'Title').click()
    await theirs.cell(1, 'Notes').click()
    await eventually(
      () => marks(mine.page).count(),
      (count) => count === 2,
    )
    expect(await avatars(mine.page).count()).toBe(1)
    await mine.page.getByTestId('people-here').click()
    const line = mine.page.getByRole('menuitem', { name: member.email })
    expect(await line.textContent()).toContain('Tasks')
    await line.click()
    // The selection goes to one of the two cells.
    const selected = mine.page.locator('[role="gridcell"][aria-selected="true"]')
    await selected.first().waitFor()
    expect(['1', '2']).toContain((await selected.first().getAttribute('data-row')) ?? '')
  })

  test('see in the open record who edits a field', async () => {
    const { member, mine, theirs } = await openTwo()
    await theirs.cell(0, 'Title').click()
    await theirs.page.keyboard.press('Space')
    await mine.cell(0, 'Title').click()
    await mine.page.keyboard.press('Space')
    await theirs.page.getByTestId('record-panel').getByRole('textbox', { name: 'Notes' }).click()
    await mine.page.getByTestId('record-panel').getByText(`${member.email} is editing`).waitFor()
  })

  test('are shown accessibly, in a list of their own and in right-to-left pages', async () => {
    const { mine, theirs } = await openTwo()
    await theirs.cell(1, 'Notes').click()
    await liesOn(mine, 1, 'Notes')
    expect(await axeViolations(mine.page)).toEqual([])
    await mine.page.getByRole('button', { name: /1 other person in this base/ }).click()
    await mine.page.getByRole('menuitem').waitFor()
    await mine.page.keyboard.press('Escape')
    await mine.page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await mine.page.setViewportSize({ width: 1200, height: 800 })
    await theirs.page.keyboard.press('ArrowDown')
    await liesOn(mine, 2, 'Notes')
    // The tag of a left-to-right name lies at the start of the cell as well.
    const [tag, box] = [
      await marks(mine.page).locator('span').first().boundingBox(),
      await mine.cell(2, 'Notes').boundingBox(),
    ]
    expect(Math.abs(tag!.x + tag!.width - (box!.x + box!.width))).toBeLessThan(4)
  })

  test('are announced when they begin to edit the selected cell', async () => {
    const { member, mine, theirs } = await openTwo()
    await mine.cell(1, 'Title').click()
    await theirs.cell(1, 'Title').click()
    await theirs.page.keyboard.press('Enter')
    await mine.page
      .getByTestId('grid-status')
      .getByText(`${member.email} is editing this cell`)
      .waitFor({ state: 'attached' })
  })

  test('are marked on the cards of a board', async () => {
    const { table, member, mine, theirs } = await openTwo()
    const api = tests.app().trpc(tests.owner().token)
    const view = await api.views.create.mutate({ tableId: table.tableId, title: 'Cards', kind: 'gallery' })
    await mine.page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}/${view.id}`)
    await theirs.cell(1, 'Title').click()
    const card = mine.page.getByTestId('record-card').filter({ hasText: 'Beta' })
    expect(await card.getByTestId('record-mark').textContent()).toBe(member.email)
  })

  test('are not shown while they appear offline', async () => {
    const { member, mine, theirs } = await openTwo()
    await avatars(mine.page).first().waitFor()
    await theirs.page.goto(`${tests.app().url}/#/account/profile`)
    await theirs.page.getByRole('switch', { name: 'Appear offline in this browser' }).click()
    await theirs.page.goBack()
    await theirs.cell(1, 'Title').waitFor()
    await avatars(theirs.page).first().waitFor()
    await avatars(mine.page).first().waitFor({ state: 'detached' })
    // Nor do they come back.
    await Bun.sleep(500)
    expect(await avatars(mine.page).count()).toBe(0)
    expect(member.email).not.toBe('')
  })

  test('redraw no cell when they move', async () => {
    const { mine, theirs } = await openTwo()
    await theirs.cell(0, 'Title').click()
    await marks(mine.page).first().waitFor()
    await mine.page.evaluate(() => {
      const counter = window as unknown as { mutations: number }
      counter.mutations = 0
      const rows = document.querySelector('[role="rowgroup"]')!
      new MutationObserver((list) => {
        for (const { target } of list) {
          const element = target instanceof Element ? target : target.parentElement
          if (element?.closest('[data-testid="row"]')) counter.mutations++
        }
      }).observe(rows, { subtree: true, childList: true, attributes: true, characterData: true })
    })
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) await theirs.page.keyboard.press(key)
    await liesOn(mine, 2, 'Notes')
    expect(await mine.page.evaluate(() => (window as unknown as { mutations: number }).mutations)).toBe(0)
  })
})
