import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { gridTests } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'
import { see } from './shell-page.ts'

const tests = gridTests()

/** A browser as on a phone, signed in or, without a token, as a stranger. */
async function openPhone(from: Page, token: string | null): Promise<{ page: Page; problems: string[] }> {
  const context = await from
    .context()
    .browser()
    ?.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
  if (!context) throw new Error('there is no browser')
  if (token) await context.addInitScript((text) => localStorage.setItem('sheaf.token', text), token)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, problems }
}

/**
 * What is in the way of a finger: controls under 44 px, those of a toolbar or header that lie outside the window,
 * and a page that scrolls sideways. Cells and boxes of a diagram have a size of their own.
 */
const inTheWay = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = []
    const controls =
      'button, a[href], input, select, textarea, [role=button], [role=radio], [role=switch], [role=tab]'
    const nameOf = (element: Element) =>
      `${element.getAttribute('aria-label') ?? element.textContent ?? ''}`.trim().slice(0, 40)
    for (const element of document.querySelectorAll(controls)) {
      if (!element.checkVisibility({ visibilityProperty: true })) continue
      if (element.closest('[inert], [role=grid], .react-flow__node, .react-flow__attribution')) continue
      // The grid's receiver of what is typed has no surface.
      if (element instanceof HTMLTextAreaElement && element.dataset.shortcuts !== undefined) continue
      // A link whose surface is that of the card around it; a box to tick with the words beside it.
      const isStretched = getComputedStyle(element, '::after').position === 'absolute'
      const card = element instanceof HTMLElement && isStretched ? element.offsetParent : null
      const area = card ?? element.closest('label') ?? element
      const label = element.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`) : null
      const boxes = [element, area, label].flatMap((one) => (one ? [one.getBoundingClientRect()] : []))
      const own = element.getBoundingClientRect()
      if (own.width <= 1 || own.bottom <= 0 || own.top >= innerHeight) continue
      const isLarge = boxes.some(({ width, height }) => width >= 43.5 && height >= 43.5)
      const isSkip = getComputedStyle(element).clipPath !== 'none'
      if (!isLarge && !isSkip) found.push(`small: ${element.tagName} ${nameOf(element)}`)
      const scrolls = (one: Element | null): boolean =>
        one !== null &&
        ((one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)) ||
          scrolls(one.parentElement))
      const isInBar = element.closest('header, [role=toolbar]') !== null && !scrolls(element.parentElement)
      if (isInBar && (own.left < -1 || own.right > innerWidth + 1)) found.push(`outside: ${nameOf(element)}`)
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
    return [...new Set(found)]
  })

describe('on a phone', () => {
  test('every control of every kind of view, of the shell and of shared pages is within reach of a finger', async () => {
    const library = await createLibrary(
      tests,
      ['Le Guin'],
      ['A title that goes on and on '.repeat(6), 'Dune'],
    )
    const owner = tests.owner()
    const api = tests.app().trpc(owner.token)
    const { baseId } = library
    const { tableId } = library.authors
    const genre = library.fieldOf(library.authors, 'Genre')
    const { page: desk } = await tests.openTable(library.books)
    const { page, problems } = await openPhone(desk, owner.token)
    const seen: Record<string, string[]> = {}
    const go = async (name: string, path: string, sign: string, root = 'dashboard') => {
      await page.goto(`${tests.app().url}/${root}#${path}`)
      await see(page.locator(sign).first())
      seen[name] = await inTheWay(page)
    }

    await go('bases', '/', 'main h1')
    await go('base', `/nc/${baseId}`, 'main table a')
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await see(page.getByRole('dialog', { name: 'Navigation' }))
    seen.drawer = await inTheWay(page)
    await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: 'Books' }).click()
    // What was chosen is seen: the drawer has made room.
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor({ state: 'detached' })
    await see(page.getByRole('gridcell').first())
    seen.grid = await inTheWay(page)
    await page.getByTestId('controls-button').click()
    for (const control of ['fields-button', 'filter-button', 'group-button', 'sort-button', 'color-button'])
      await see(page.getByTestId(control))
    seen.sheet = await inTheWay(page)

    for (const kind of ['gallery', 'kanban', 'calendar', 'map', 'form'] as const) {
      const view = await api.views.create.mutate({
        tableId,
        title: kind,
        kind,
        ...(kind === 'kanban' && { options: { stackFieldId: genre } }),
      })
      const sign = kind === 'form' ? '[data-testid="form-screen"]' : '[role="toolbar"]'
      await go(kind, `/nc/${baseId}/${tableId}/${view.id}`, sign)
      const share = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
      if (kind === 'form')
        await go('public form', `/nc/form/${share.id}`, '[data-testid="public-form"]', 'form')
      else await go(`shared ${kind}`, `/nc/view/${share.id}`, '[role="toolbar"]', 'shared')
    }
    await go('record', `/nc/${baseId}/${library.books.tableId}?rowId=1`, '[data-testid="record-panel"]')
    await go('relations', `/nc/${baseId}/erd`, '[data-testid="erd"] .react-flow__node')
    await go('account', '/account/profile', 'main h1')
    const share = await api.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
    await go('shared base', `/base/base/${share.id}`, '[role="toolbar"]', 'shared')
    await page.getByRole('button', { name: 'Authors' }).click()
    await page
      .getByRole('navigation', { name: 'Tables' })
      .getByRole('link', { name: 'Books' })
      .first()
      .click()
    await see(page.getByText('Dune'))
    expect(await page.getByRole('navigation', { name: 'Tables' }).isVisible()).toBe(false)

    expect(Object.entries(seen).filter(([, found]) => found.length > 0)).toEqual([])
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('a condition is seen whole, however long the names of the fields are', async () => {
    const fields = [
      'Name',
      'Why it took as long as it did, as whoever did it tells it '.repeat(3).trim(),
    ].map((title) => ({ title, type: 'SingleLineText' as const }))
    const table = await tests.createTable(fields, [['a']])
    const { page: desk } = await tests.openTable(table)
    const { page } = await openPhone(desk, tests.owner().token)
    await page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}`)
    await page.getByTestId('controls-button').click()
    await page.getByTestId('filter-button').click()
    await page.getByRole('button', { name: 'Add condition' }).click()
    const panel = page.getByRole('dialog', { name: 'Filter' })
    await see(panel.getByRole('button', { name: 'Remove condition' }))
    const ends = await panel
      .locator('select, input, button')
      .evaluateAll((controls) => controls.map((control) => control.getBoundingClientRect().right))
    expect(ends.length).toBeGreaterThan(4)
    expect(Math.max(...ends)).toBeLessThanOrEqual(390)
    await page.context().close()
  })

  test('a tap on its number ticks a record, and the ticked ones can be deleted', async () => {
    const table = await tests.createTable(
      [{ title: 'Name', type: 'SingleLineText' as const }],
      [['a'], ['b'], ['c']],
    )
    const { page: desk } = await tests.openTable(table)
    const { page } = await openPhone(desk, tests.owner().token)
    await page.goto(`${tests.app().url}/#/nc/${table.baseId}/${table.tableId}`)
    const number = (row: number) => page.locator(`[role=rowheader][data-row="${row}"]`)
    const bar = page.getByTestId('bulk-bar')
    for (const row of [0, 1, 2]) await number(row).tap()
    await see(bar.getByText('3 records selected'))
    await number(1).tap()
    await see(bar.getByText('2 records selected'))
    await bar.getByRole('button', { name: 'Delete' }).tap()
    await bar.waitFor({ state: 'detached' })
    await see(page.getByText('1 record', { exact: true }))
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    await page.context().close()
  })
})
