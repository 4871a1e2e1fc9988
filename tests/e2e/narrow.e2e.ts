import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { gridTests } from './grid-page.ts'
import { see, tableLink } from './shell-page.ts'

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

describe('a name of 200 letters without a space', () => {
  test('widens no dialog of a table or of its records', async () => {
    const api = tests.app().trpc(tests.owner().token)
    const long = 'Abcdefghij'.repeat(20)
    const table = await tests.createTable([{ title: 'Title', type: 'SingleLineText' }], [['Ann'], ['Ben']])
    const { baseId, tableId } = table
    await api.bases.update.mutate({ baseId, title: long })
    const other = await api.schema.createTable.mutate({
      baseId,
      title: long,
      fields: [{ title: long, type: 'SingleLineText' }],
    })
    const field = { title: 'Others', type: 'Links' as const }
    const options = { kind: 'mm' as const, relatedTableId: other.table.id }
    await api.schema.createField.mutate({ tableId, field: { ...field, options } })
    const { page } = await tests.openTable(table)
    const dialog = page.getByRole('dialog')
    const item = (name: string) => page.getByRole('menuitem', { name, exact: true })
    /** The parts of the dialog, itself included, that scroll sideways. */
    const sideways = () =>
      dialog.evaluate((box) =>
        [box, ...box.querySelectorAll('*')]
          .filter((each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
          .filter((each) => getComputedStyle(each).overflowX === 'auto')
          .map((each) => each.outerHTML.slice(0, 200)),
      )
    const check = async (name: string, sign: string) => {
      await see(dialog.getByText(sign).first())
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await sideways(), `${name}, ${width}`).toEqual([])
      }
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    for (const [name, sign] of [
      ['Copy to base…', 'become their values'],
      ['Move to base…', 'become their values'],
      ['Performance', 'to return'],
    ] as const) {
      await tableLink(page, 'Tasks').click({ button: 'right' })
      await item(name).click()
      await check(name, sign)
    }
    await page.locator('[data-part="rowNumber"][data-row="0"]').hover()
    await page.locator('[data-part="rowCheck"][data-row="0"]').click()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Copy or move' }).click()
    await item('Copy to table…').click()
    await check('Copy to table…', 'Fields and where their values come from')
  })
})
