import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually, gridTests } from './grid-page.ts'
import { createLibrary } from './link-tables.ts'
import { see } from './shell-page.ts'

const tests = gridTests()
const box = (page: Page, title: string) =>
  page.getByTestId('erd').getByRole('group', { name: `Table ${title}`, exact: true })
const at = (page: Page) => new URL(page.url()).hash.slice(1)

describe('the relations of a base', () => {
  test('are drawn, chosen from, searched by key, opened, saved as a drawing and shared', async () => {
    const library = await createLibrary(tests, ['Le Guin'], ['Dispossessed'])
    await library.addLink('mm', 'Authors')
    const api = tests.app().trpc(tests.owner().token)
    await api.schema.createTable.mutate({ baseId: library.baseId, title: 'رفوف', fields: [] })
    const { page } = await tests.openTable(library.books)

    await page.getByRole('button', { name: /^Options for base/ }).click()
    await page.getByRole('menuitem', { name: 'Relations' }).click()
    await see(box(page, 'Books').getByText('Title', { exact: true }))
    await see(box(page, 'رفوف'))
    // The sidebar does not claim that the first page is open.
    expect(await page.getByRole('link', { name: 'Overview' }).getAttribute('aria-current')).toBe(null)

    // What is shown.
    await page.getByLabel('Fields').selectOption('keys')
    await box(page, 'Authors').getByText('Born', { exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Fields').selectOption('all')
    await see(box(page, 'Authors').getByText('Born', { exact: true }))
    await page.getByLabel('Types').uncheck()
    await box(page, 'Authors').getByText('Number', { exact: true }).waitFor({ state: 'detached' })
    const boxes = page.getByTestId('erd').locator('.react-flow__node')
    const count = await boxes.count()
    await page.getByLabel('Junction tables').check()
    await see(boxes.nth(count))

    // A box is found, taken hold of and moved by key; Escape lets go.
    await page.getByLabel('Find a table or field').fill('born')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Table Authors')
    const place = () => box(page, 'Authors').evaluate((node) => node.style.transform)
    const before = await place()
    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(
      (old) => (document.activeElement as HTMLElement | null)?.style.transform !== old,
      before,
    )

    await page.getByRole('button', { name: 'Export as image' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'SVG image' }).click(),
    ])
    const svg = await Bun.file((await file.path()) ?? '').text()
    expect(svg).toStartWith('<svg')
    for (const title of ['Books', 'Authors', 'رفوف', 'Born']) expect(svg).toContain(`>${title}</text>`)

    // Shared, and seen by a browser that has never been here.
    await page.getByRole('button', { name: 'Share diagram' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share diagram' })
    await dialog.getByRole('switch', { name: 'Public link' }).click()
    const address = await dialog.getByTestId('share-address').inputValue()
    await page.keyboard.press('Escape')
    const visitor = await (await page.context().browser()?.newContext())?.newPage()
    if (!visitor) throw new Error('there is no browser')
    await visitor.goto(address)
    await see(box(visitor, 'Books').getByText('Title', { exact: true }))
    expect(await visitor.getByRole('button', { name: 'Share diagram' }).count()).toBe(0)
    expect(await visitor.locator('body').textContent()).not.toContain('Le Guin')
    await visitor.context().close()

    // Enter on a box opens its table.
    await box(page, 'Authors').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.hash.endsWith(library.authors.tableId))
  })

  test('stay as they were drawn while they cannot be read again', async () => {
    const library = await createLibrary(tests, [], [])
    const api = tests.app().trpc(tests.owner().token)
    const { page, problems } = await tests.openTable(library.books)
    await page.goto(`${tests.app().url}/dashboard#/nc/${library.baseId}/erd`)
    const reload = () => page.getByRole('button', { name: 'Reload data' }).click()
    await see(box(page, 'Books'))
    const drawn = await box(page, 'Books').elementHandle()
    let refused = 0
    await page.route(/schema\.diagram/, (call) => {
      refused++
      return call.fulfill({ status: 503 })
    })
    await reload()
    // Two repetitions, after which it has failed.
    await eventually(
      async () => refused,
      (count) => count === 3,
    )
    await Bun.sleep(200)
    await page.unroute(/schema\.diagram/)
    await api.schema.createTable.mutate({ baseId: library.baseId, title: 'Late', fields: [] })
    await reload()
    await see(box(page, 'Late'))
    // The same element, where it was put.
    expect(await drawn?.evaluate((node) => node.isConnected)).toBe(true)
    problems.splice(0)
  })

  test('of one table leave out the others, and of a source that is none there is no page', async () => {
    const library = await createLibrary(tests, [], [])
    await library.addLink('mm', 'Authors')
    const api = tests.app().trpc(tests.owner().token)
    await api.schema.createTable.mutate({ baseId: library.baseId, title: 'Shelves', fields: [] })
    const { page, problems } = await tests.openTable(library.books)
    await page
      .getByRole('navigation', { name: 'Tables' })
      .getByRole('link', { name: 'Books', exact: true })
      .click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Relations' }).click()
    await see(box(page, 'Authors'))
    expect(await box(page, 'Shelves').count()).toBe(0)
    await page.getByLabel('Only tables linked to “Books”').uncheck()
    await see(box(page, 'Shelves'))

    const [source] = await api.sources.list.query({ baseId: library.baseId })
    await page.goto(`${tests.app().url}/dashboard#/nc/${library.baseId}/erd/${source?.id}`)
    await see(box(page, 'Shelves'))
    await page.goto(`${tests.app().url}/dashboard#/nc/${library.baseId}/erd/b00000000000000`)
    await see(page.getByText('Page not found'))
    expect(at(page)).toEndWith('/erd/b00000000000000')
    expect(problems).toEqual([])
  })
})
