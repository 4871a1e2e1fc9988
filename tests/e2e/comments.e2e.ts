import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests, textOf } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]
const ROWS = [['Alpha'], ['Beta'], ['Gamma']]

async function openComments({ page, cell }: GridPage, row = 0): Promise<void> {
  await cell(row, 'Title').click()
  await page.keyboard.press('Space')
  await page.getByTestId('record-panel').getByRole('tab', { name: 'Comments' }).click()
  await page
    .getByText(/No comments yet|Reply/)
    .first()
    .waitFor()
}
const composer = (page: Page) => page.getByRole('textbox', { name: 'New comment' })
const comments = (page: Page) => page.getByTestId('comment')
const texts = async (page: Page): Promise<string[]> =>
  (await comments(page).locator('p').allTextContents()).map((text) => text.trim())
/** The numbers beside the row numbers. */
const chips = (page: Page) => page.locator('[data-part="rowNumber"] [title*="comment"]').allTextContents()

describe('comments', () => {
  test('are drawn at once, reach others live, and are counted in the grid', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const member = await createMember(tests.app(), table.baseId, 'commenter')
    const [own, other] = [await tests.openTable(table), await tests.openTable(table, member)]
    await openComments(own)
    await composer(own.page).fill('Please **check** this')
    await own.page.keyboard.press('Shift+Enter')
    await own.page.keyboard.type('<img src=x onerror="window.hacked=1"> [x](javascript:alert(1))')
    await own.page.keyboard.press('Enter')
    await comments(own.page).first().waitFor()
    expect(await composer(own.page).inputValue()).toBe('')
    expect(await textOf(comments(own.page).locator('strong').nth(1))).toBe('check')
    expect(await comments(own.page).locator('img, a[href^="javascript"]').count()).toBe(0)
    expect(
      await eventually(
        () => chips(other.page),
        (found) => found.length === 1,
      ),
    ).toEqual(['1'])

    await openComments(other)
    await other.page.getByRole('button', { name: 'Reply' }).click()
    await other.page.keyboard.type('Done')
    await other.page.keyboard.press('Enter')
    expect(
      await eventually(
        () => texts(own.page),
        (found) => found.includes('Done'),
      ),
    ).toContain('Done')
    expect(
      await eventually(
        () => chips(own.page),
        (found) => found[0] === '2',
      ),
    ).toEqual(['2'])
    // Nothing of other records changed.
    expect(own.writes()).toEqual([])
    expect(await own.page.evaluate(() => 'hacked' in window)).toBe(false)
  })

  test('are drawn in the next frame, whatever the server takes', async () => {
    const grid = await tests.openTable(await tests.createTable(FIELDS, ROWS))
    const { page } = grid
    await openComments(grid)
    await page.route('**/trpc/comments.create*', async (route) => {
      await Bun.sleep(1_500)
      await route.continue()
    })
    const frames: number[] = []
    for (const text of ['first', 'second', 'third']) {
      await composer(page).fill(text)
      await page.evaluate(() => {
        const count = () => document.querySelectorAll('[data-testid="comment"]').length
        const before = count()
        const drawn = new Promise<number>((resolve) => {
          const begin = () => {
            let passed = 0
            const next = () => {
              passed++
              if (count() > before) resolve(passed)
              else requestAnimationFrame(next)
            }
            requestAnimationFrame(next)
          }
          window.addEventListener('keydown', begin, { capture: true, once: true })
        })
        Object.assign(window, { drawn })
      })
      await page.keyboard.press('Enter')
      frames.push(await page.evaluate(() => (window as unknown as { drawn: Promise<number> }).drawn))
    }
    console.info(`a comment is drawn in frame ${frames.join(', ')}`)
    // The frame after the key, or the one after that if it was about to be drawn already.
    expect(Math.min(...frames)).toBeLessThanOrEqual(2)
    expect(await page.getByTestId('comment').count()).toBe(3)
  })

  test('are edited, reacted to, resolved and deleted', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    await openComments(grid, 1)
    await composer(page).fill('First')
    await page.keyboard.press('Enter')
    await comments(page).first().waitFor()
    const more = page.getByRole('button', { name: 'More for this comment' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Edit comment' }).fill('Second')
    await page.keyboard.press('Enter')
    expect(
      await eventually(
        () => texts(page),
        (found) => found[0] === 'Second',
      ),
    ).toEqual(['Second'])
    expect(await page.getByText('edited', { exact: true }).count()).toBe(1)

    await page.getByRole('button', { name: 'Add a reaction' }).click()
    await page.getByRole('menuitemcheckbox', { name: '🎉' }).click()
    const reaction = page.getByRole('button', { name: /^🎉 by/ })
    expect(await reaction.getAttribute('aria-pressed')).toBe('true')
    await reaction.click()
    await reaction.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Resolve' }).click()
    await page.getByRole('button', { name: 'Show resolved (1)' }).click()
    await page.getByRole('button', { name: 'Open again' }).click()
    await page.getByRole('button', { name: 'Resolve' }).waitFor()
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No comments yet').waitFor()
    expect(
      await eventually(
        () => chips(page),
        (found) => found.length === 0,
      ),
    ).toEqual([])
  })

  test('are only read by viewers', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const api = tests.app().trpc(tests.owner().token)
    await api.comments.create.mutate({ tableId: table.tableId, recordId: 1, text: 'For all' })
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const seen = await tests.openTable(table, viewer)
    await seen.cell(0, 'Title').click()
    await seen.page.keyboard.press('Space')
    await seen.page.getByRole('tab', { name: 'Comments' }).click()
    expect(
      await eventually(
        () => texts(seen.page),
        (found) => found.length > 0,
      ),
    ).toEqual(['For all'])
    expect(await composer(seen.page).count()).toBe(0)
    expect(await seen.page.getByRole('button', { name: /Reply|Resolve|reaction/ }).count()).toBe(0)
  })

  test('that the server refuses are put back into the field', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    await openComments(grid)
    await composer(page).evaluate((area) => area.removeAttribute('maxlength'))
    const tooLong = 'x'.repeat(3_001)
    await composer(page).fill(tooLong)
    await page.keyboard.press('Enter')
    await page
      .getByText(/at most 3000|3000|too big/i)
      .first()
      .waitFor()
    expect(
      await eventually(
        () => composer(page).inputValue(),
        (text) => text !== '',
      ),
    ).toBe(tooLong)
    expect(
      await eventually(
        () => comments(page).count(),
        (count) => count === 0,
      ),
    ).toBe(0)
    // The browser reports the refused call.
    grid.problems.length = 0
  })

  test('are written on a cell by its menu, and listed for the base until they are resolved', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    await grid.cell(1, 'Title').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Comment on this cell' }).click()
    await page.getByText('On Title').waitFor()
    await page.keyboard.type('Is this name right?')
    await page.keyboard.press('Enter')
    await comments(page).first().waitFor()
    await page.getByTestId('record-panel').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Comments' }).click()
    const thread = page.getByTestId('open-threads').getByRole('listitem')
    await thread.getByText('Is this name right?').waitFor()
    const api = tests.app().trpc(tests.owner().token)
    const { comments: found } = await api.comments.list.query({ tableId: table.tableId, recordId: 2 })
    expect(found).toMatchObject([{ fieldId: table.schema.fields.find(({ title }) => title === 'Title')?.id }])

    await thread.getByRole('link', { name: /^Beta in/ }).click()
    await comments(page).getByText('Is this name right?').waitFor()
    await page.getByRole('link', { name: 'Comments' }).click()
    await thread.waitFor()
    await api.comments.resolve.mutate({ commentId: found[0]?.id ?? '', isResolved: true })
    await page.getByText('No open comments').waitFor()
  })

  test('that are not sent stay in their fields', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const api = tests.app().trpc(tests.owner().token)
    await api.comments.create.mutate({ tableId: table.tableId, recordId: 1, text: 'First' })
    const grid = await tests.openTable(table)
    const { page } = grid
    await openComments(grid)
    await page.route('**/trpc/comments.create*', (route) => route.abort())
    await page.getByRole('button', { name: 'Reply' }).click()
    await page.keyboard.type('Not lost')
    await page.keyboard.press('Enter')
    const reply = page.getByRole('textbox', { name: 'Reply' })
    expect(
      await eventually(
        () => reply.inputValue(),
        (text) => text !== '',
      ),
    ).toBe('Not lost')
    await composer(page).fill('Half a thought')
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('tab', { name: 'Fields' }).click()
    await panel.getByRole('tab', { name: 'Comments' }).click()
    expect(await composer(page).inputValue()).toBe('Half a thought')
    // The browser reports the aborted call.
    grid.problems.length = 0
  })

  test('whose answer was lost are put back into the field, and stored once when they are sent again', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const grid = await tests.openTable(table)
    const { page } = grid
    await openComments(grid)
    await page.route('**/trpc/comments.create*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await composer(page).fill('Once')
    await page.keyboard.press('Enter')
    expect(
      await eventually(
        () => composer(page).inputValue(),
        (text) => text !== '',
      ),
    ).toBe('Once')
    await page.unroute('**/trpc/comments.create*')
    const sent = page.waitForResponse('**/trpc/comments.create*')
    await composer(page).press('Enter')
    await sent
    const api = tests.app().trpc(tests.owner().token)
    const { comments: stored } = await api.comments.list.query({ tableId: table.tableId, recordId: 1 })
    expect(stored.map(({ text }) => text)).toEqual(['Once'])
    // The browser reports the aborted call.
    grid.problems.length = 0
  })

  test('that are not sent are put before what was typed meanwhile, and until then are in no field', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const api = tests.app().trpc(tests.owner().token)
    await api.comments.create.mutate({ tableId: table.tableId, recordId: 1, text: 'Zero' })
    const grid = await tests.openTable(table)
    const { page } = grid
    await openComments(grid)
    const failing = Promise.withResolvers<void>()
    await page.route('**/trpc/comments.create*', async (route) => {
      await failing.promise
      await route.abort()
    })
    await composer(page).fill('First')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Second')
    const reply = page.getByRole('textbox', { name: 'Reply' })
    await page.getByRole('button', { name: 'Reply' }).first().click()
    await page.keyboard.type('Third')
    await page.keyboard.press('Enter')
    await page.getByTestId('comment').getByText('Third').waitFor()
    await page.getByRole('button', { name: 'Reply' }).first().click()
    expect(await reply.inputValue()).toBe('')
    failing.resolve()
    expect(
      await eventually(
        () => composer(page).inputValue(),
        (text) => text.includes('First'),
      ),
    ).toBe('First\n\nSecond')
    expect(
      await eventually(
        () => reply.inputValue(),
        (text) => text !== '',
      ),
    ).toBe('Third')
    // The browser reports the aborted calls.
    grid.problems.length = 0
  })
})

test('a comment that is not sent yet keeps the page from reloading after an update', async () => {
  const grid = await tests.open(FIELDS, ROWS)
  const { page, problems } = grid
  await openComments(grid)
  await composer(page).fill('Half a sentence')
  await composer(page).blur()
  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  await page.route(/\.js$/, (route) => route.fulfill({ status: 404 }))
  // Its editor is loaded when it is opened.
  await grid.header('Title').dblclick()
  await page.getByText('Part of the app could not be loaded').first().waitFor()
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
  expect(await composer(page).inputValue()).toBe('Half a sentence')
  problems.length = 0
})
