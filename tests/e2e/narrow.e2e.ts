import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { gridTests } from './grid-page.ts'

const tests = gridTests()

const LONG = 'Orders of the northern region, with partners and subsidiaries'
const ROWS = Array.from({ length: 3 }, (_, n): CellValue[] => [`${LONG} ${n}`, 'Open'])

/** The screens of a base and of an account, each with the text that tells that it is loaded. */
const SCREENS: readonly [path: (baseId: string) => string, text: string][] = [
  [(baseId) => `/nc/${baseId}`, 'Overview'],
  [(baseId) => `/nc/${baseId}/auth`, 'Invite people'],
  [(baseId) => `/nc/${baseId}/trash`, 'Deleted forever'],
  [(baseId) => `/nc/${baseId}/history`, 'Delete table'],
  [(baseId) => `/nc/${baseId}/comments`, 'A comment'],
  [(baseId) => `/nc/${baseId}/webhooks`, 'Not called yet'],
  [() => '/account/notifications', 'Someone mentions me'],
  [() => '/account/tokens', 'Token name'],
  [() => '/account/users', 'Super admin'],
  [() => '/account/settings', 'Invite-only sign-up'],
  [() => '/account/setup', 'Amazon SES'],
  [() => '/account/storage', LONG],
  [() => '/account/backups', 'Set up backups'],
  [() => '/account/audit', 'Created the base'],
  [() => '/trash', 'Deleted forever'],
  [() => '/', LONG],
]

/** The controls of the screen that do not lie within the window. */
const outside = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main :is(button, select, input, textarea, a)')]
      .filter((control) => {
        const { left, right, width } = control.getBoundingClientRect()
        return width > 0 && (left < -1 || right > innerWidth + 1)
      })
      .map((control) => control.outerHTML.slice(0, 200)),
  )

describe('a narrow window', () => {
  test('shows the controls of every screen whole, with long titles, in both directions', async () => {
    const api = tests.app().trpc(tests.owner().token)
    const table = await tests.createTable(
      [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Status', type: 'SingleSelect', options: { choices: [{ title: 'Open' }] } },
      ],
      ROWS,
    )
    const { baseId, tableId } = table
    await api.bases.update.mutate({ baseId, title: LONG })
    await api.schema.updateTable.mutate({ tableId, title: LONG })
    const gone = await api.schema.createTable.mutate({ baseId, title: `${LONG} of last year`, fields: [] })
    await api.schema.deleteTable.mutate({ tableId: gone.table.id })
    await api.comments.create.mutate({ tableId, recordId: 1, text: `A comment on ${LONG}` })
    await api.hooks.create.mutate({
      tableId,
      title: `When ${LONG} change`,
      event: 'after',
      operations: ['insert'],
      channel: { type: 'URL', payload: { path: 'https://example.com/a/rather/long/path' } },
    })
    const { page } = await tests.openTable(table, tests.owner(), { viewport: { width: 390, height: 800 } })
    for (const dir of ['ltr', 'rtl']) {
      await page.evaluate((wanted) => {
        document.documentElement.dir = wanted
      }, dir)
      for (const [path, text] of SCREENS) {
        await page.evaluate((hash) => {
          location.hash = hash
        }, path(baseId))
        await page.locator('main').getByText(text).first().waitFor()
        expect(await outside(page), `${path(baseId)} ${dir}`).toEqual([])
      }
    }
  })
})
