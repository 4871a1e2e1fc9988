import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { see } from './shell-page.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let baseId: string
/** Table ids and view ids of the sample base, by title. */
const tables = new Map<string, { id: string; views: Map<string, string>; displayField: string }>()

const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

beforeAll(async () => {
  ;[app, browser] = await Promise.all([createTestApp({ hasStarter: true }), shareBrowser()])
  owner = await app.signUp('ada@example.com')
  const api = app.trpc(owner.token)
  const [base] = await api.bases.list.query()
  baseId = base?.id ?? ''
  for (const { id, title } of await api.schema.tables.query({ baseId })) {
    const { views, fields } = await api.schema.table.query({ tableId: id })
    tables.set(title, {
      id,
      views: new Map(views.map((view) => [view.title, view.id])),
      displayField: fields.find(({ isDisplay }) => isDisplay)?.title ?? '',
    })
  }
})

afterAll(async () => {
  await closeContexts(browser)
  await app?.stop()
})

const tablePath = (table: string, view?: string) => {
  const found = tables.get(table)
  return `/nc/${baseId}/${found?.id}${view ? `/${found?.views.get(view)}` : ''}`
}

/** One page whose screens are checked one after the other; `violations` names the screen of each. */
async function openAudit({ isPhone = false, isSignedIn = true } = {}) {
  const context: BrowserContext = await browser.newContext(
    isPhone ? { viewport: PHONE, hasTouch: true, isMobile: true } : { viewport: WIDE },
  )
  if (isSignedIn)
    await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
  const page = await context.newPage()
  const violations: string[] = []
  const audit = async (screen: string, sign: Locator | string) => {
    await see(typeof sign === 'string' ? page.locator(sign).first() : sign)
    violations.push(...(await axeViolations(page)).map((each) => `${screen}: ${each}`))
  }
  /** The same of what lies over a page that was checked already: a menu, a panel, a dialog. */
  const auditPart = async (screen: string, part: Locator) => {
    await see(part)
    const found = await axeViolations(page, await part.elementHandle())
    violations.push(...found.map((each) => `${screen}: ${each}`))
  }
  const open = async (path: string, root = '') => {
    // A change of the hash alone would leave the former screen on the page for a moment.
    await page.goto('about:blank')
    await page.goto(`${app.url}/${root}#${path}`)
  }
  const visit = async (screen: string, path: string, sign: string, root = '') => {
    await open(path, root)
    await audit(screen, sign)
  }
  return {
    page,
    violations,
    audit,
    auditPart,
    visit,
    /** Opens a screen that another test visits, and waits for its sign. */
    async show(path: string, sign: string) {
      await open(path)
      await see(page.locator(sign).first())
    },
    /** Fails with one line per violation. */
    async done() {
      await context.close()
      expect(violations).toEqual([])
    },
  }
}

const closeDialog = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

const LOADED_CELL = '[role=gridcell]:not([aria-busy])'

/** Each test checks a dozen screens; on a busy machine one takes seconds. */
const TIMEOUT_MS = 180_000

const SIZES = [
  ['in a wide window', false],
  ['on a phone', true],
] as const

describe.each(SIZES)('no accessibility rule is violated %s', (_, isPhone) => {
  test(
    'by the pages of people who are signed out',
    async () => {
      const { page, visit, audit, done } = await openAudit({ isPhone, isSignedIn: false })
      await visit('sign-in', '/signin', 'main form')
      await page.keyboard.press('Enter')
      await audit('sign-in with errors', '[role=alert], [aria-invalid=true]')
      await visit('sign-up', '/signup', 'main form')
      await visit('forgotten password', '/forgot-password', 'main h1')
      await visit('reset password', '/reset/abc', 'main h1')
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the bases, the home of a base and the account',
    async () => {
      const { page, visit, audit, auditPart, done } = await openAudit({ isPhone })
      await visit('base list', '/', 'main h1')
      await page.keyboard.press('Alt+d')
      await auditPart('new base', page.getByRole('dialog'))
      await closeDialog(page)
      await visit('base overview', `/nc/${baseId}`, 'main table a')
      for (const tab of await page.getByRole('tab').all()) {
        await tab.click()
        await audit(`base home, ${await tab.textContent()}`, 'main h1')
      }
      await page.keyboard.press('Alt+t')
      await auditPart('new table', page.getByRole('dialog'))
      await closeDialog(page)
      await page.keyboard.press('ControlOrMeta+k')
      await page.keyboard.type('ta')
      await see(page.getByRole('listbox').getByRole('option').first())
      await auditPart('command palette', page.getByRole('dialog'))
      await page.keyboard.type(' that nothing is called')
      await see(page.getByText(/^No results for/))
      await auditPart('command palette without results', page.getByRole('dialog'))
      await closeDialog(page)
      for (const name of ['profile', 'password', 'tokens', 'settings', 'storage', 'audit'])
        await visit(`account, ${name}`, `/account/${name}`, 'main h1')
      await app.rest(owner.token).post('/api/v1/users', { email: 'carol@example.com' })
      await visit('account, users', '/account/users', 'main li select')
      await visit('account, setup', '/account/setup', 'main li button')
      for (const title of ['SMTP', 'Slack']) {
        await page.getByRole('button', { name: `Configure ${title}` }).click()
        await auditPart(`plugin ${title}`, page.getByRole('dialog'))
        await closeDialog(page)
      }
      await visit('page not found', '/error/404', 'main h1')
      await visit('diagram', `/nc/${baseId}/erd`, '[data-testid="erd"] .react-flow__node')
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the grid, its panels and a record',
    async () => {
      const { page, visit, audit, auditPart, show, done } = await openAudit({ isPhone })
      for (const table of ['Tasks', 'Projects', 'People'])
        await visit(`grid ${table}`, tablePath(table), LOADED_CELL)
      await page.route(/records\.list/, () => {}) // Never answered: what stands there meanwhile is audited, too.
      await visit('grid that loads', tablePath('Tasks'), '[role=gridcell][aria-busy]')
      await page.unroute(/records\.list/)
      await show(tablePath('Tasks'), LOADED_CELL)
      const openPanel = async (id: string) => {
        if (isPhone) await page.getByTestId('controls-button').click()
        await page.getByTestId(id).click()
      }
      if (isPhone) {
        await page.getByTestId('controls-button').click()
        await audit('view settings', page.getByTestId('fields-button'))
        await closeDialog(page)
        await page.locator('header button').first().click()
        await auditPart('drawer', page.getByRole('dialog'))
        await closeDialog(page)
      }
      for (const panel of ['fields', 'filter', 'group', 'sort', 'color']) {
        await openPanel(`${panel}-button`)
        const dialog = page.getByRole('dialog').last()
        await auditPart(`${panel} panel`, dialog)
        const add = dialog.getByRole('button', { name: /^Add (condition|group|sort|colour)/ })
        if (panel !== 'fields' && (await add.count()) > 0) {
          await add.first().click()
          await auditPart(`${panel} panel with a line`, dialog)
        }
        await page.keyboard.press('Escape')
        await page.keyboard.press('Escape')
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the trash and the history of a base, with and without entries',
    async () => {
      const { visit, done } = await openAudit({ isPhone })
      const api = app.trpc(owner.token)
      const rest = app.rest(owner.token)
      const table = (
        await rest.post(`/api/v2/meta/bases/${baseId}/tables`, {
          title: `Parts of ${isPhone ? 'phones' : 'desks'}`,
          columns: ['Name', 'Colour'].map((title) => ({ title, uidt: 'SingleLineText' })),
        })
      ).body
      const path = `/api/v2/tables/${table.id}/records`
      await rest.post(path, [{ Name: 'Lid' }, { Name: 'Leg' }, { Name: 'Top' }])
      await rest.delete(path, [{ Id: 1 }, { Id: 2 }])
      const fields = (await api.schema.table.query({ tableId: table.id })).fields
      await api.schema.deleteField.mutate({
        fieldId: fields.find(({ title }) => title === 'Colour')?.id ?? '',
      })
      const empty = await api.bases.create.mutate({ title: 'Empty' })
      for (const [name, id] of [
        ['', baseId],
        [' of an empty base', empty.id],
      ] as const) {
        await visit(`history${name}`, `/nc/${id}/history`, 'main li, main h2')
        await visit(`trash${name}`, `/nc/${id}/trash`, 'main li, main h2')
      }
      await api.bases.delete.mutate({ baseId: empty.id })
      await visit('trash of all bases', '/trash', 'main li')
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the menus and dialogs of the grid',
    async () => {
      const { page, audit, auditPart, show, done } = await openAudit({ isPhone })
      await show(tablePath('Tasks'), LOADED_CELL)
      const firstCell = page.locator('[role=gridcell][data-row="0"]').first()
      await firstCell.dblclick()
      await audit('grid with an open editor', page.getByTestId('cell-editor'))
      await page.keyboard.press('Escape')
      await firstCell.click({ button: 'right' })
      await auditPart('menu of a cell', page.getByRole('menu'))
      await page.keyboard.press('Escape')
      await page.locator('[role=columnheader][data-field]').first().click({ button: 'right' })
      await auditPart('menu of a column', page.getByRole('menu'))
      await page.keyboard.press('Escape')
      if (isPhone) await page.getByTestId('controls-button').click()
      await page.getByTestId('row-height-button').click()
      await auditPart('row height', page.getByRole('menu'))
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      if (isPhone) await closeDialog(page)
      await page.getByTestId('search-button').click()
      await page.getByTestId('search-input').fill('a')
      await audit('search', page.getByTestId('search-count'))
      await page.keyboard.press('Escape')
      await page.getByTestId('add-field').first().click()
      await auditPart('field editor', page.getByTestId('field-editor'))
      await page.getByTestId('field-type').click()
      await see(page.getByTestId('type-option').first())
      await auditPart('field types', page.getByTestId('field-editor'))
      await page.getByTestId('type-option').filter({ hasText: 'Single select' }).click()
      await see(page.getByRole('button', { name: 'Add option' }))
      await auditPart('field editor of a select', page.getByTestId('field-editor'))
      await page.keyboard.press('Escape')
      await audit('a toast', page.getByRole('region', { name: 'Notifications' }).getByRole('alert'))
      if (!isPhone) {
        await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
        await auditPart('shortcuts', page.getByRole('dialog'))
        await closeDialog(page)
      }
      const box = page.getByRole('checkbox', { name: 'Select record 1', exact: true })
      if (isPhone) await page.locator('[role=rowheader][data-row="0"]').tap()
      else {
        await firstCell.hover()
        await box.check()
      }
      expect(await box.isChecked()).toBe(true)
      await audit('selected records', page.getByTestId('bulk-bar'))
      await show(tablePath('Projects'), LOADED_CELL)
      await page.keyboard.press('Alt+i')
      await auditPart('share dialog', page.getByRole('dialog', { name: 'Share' }))
      const isPublic = page.getByRole('switch', { name: 'Public link' })
      if (!(await isPublic.isChecked())) await isPublic.click()
      await see(page.getByTestId('share-address'))
      await auditPart('share dialog of an open link', page.getByRole('dialog', { name: 'Share' }))
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the dialogs of a base',
    async () => {
      const { page, visit, auditPart, show, done } = await openAudit({ isPhone })
      await show(`/nc/${baseId}`, 'main table a')
      await page.getByRole('button', { name: /^Import data/ }).click()
      await auditPart('import', page.getByRole('dialog'))
      await page
        .getByRole('dialog')
        .locator('input[type=file]')
        .setInputFiles({
          name: 'cities.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from('City,People\nParis,2102650\nRome,2748109\n'),
        })
      await see(
        page
          .getByRole('dialog')
          .getByText(/^Importing/)
          .first(),
      )
      await auditPart('import of a file', page.getByRole('dialog'))
      await closeDialog(page)
      await page
        .getByRole('button', { name: /^Connect a database/ })
        .first()
        .click()
      await auditPart('data source', page.getByRole('dialog'))
      await closeDialog(page)
      await visit('members', `/nc/${baseId}/auth`, 'main h1')
      await page.getByRole('button', { name: 'Invite people' }).click()
      await auditPart('invitation', page.getByRole('dialog'))
      await closeDialog(page)
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by an open record, beside the grid and in a window',
    async () => {
      const { page, visit, auditPart, done } = await openAudit({ isPhone })
      const panel = page.getByTestId('record-panel')
      for (const table of ['Tasks', 'Projects', 'People']) {
        await visit(`record of ${table}`, `${tablePath(table)}?rowId=1`, '[data-testid="record-field"]')
        await panel.getByRole('tab', { name: 'History' }).click()
        await see(page.getByTestId('history-entry').first())
        await auditPart(`history of ${table}`, panel)
      }
      if (!isPhone) {
        await panel.getByRole('button', { name: 'Open in a window' }).click()
        await auditPart('record in a window', page.getByRole('dialog'))
      }
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by the other kinds of views',
    async () => {
      const { page, visit, audit, done } = await openAudit({ isPhone })
      await visit('kanban', tablePath('Tasks', 'Board'), '[data-testid="kanban-card"]')
      await visit('calendar', tablePath('Tasks', 'Calendar'), '[data-testid="calendar-event"], [data-day]')
      for (const scale of ['Day', 'Week', 'Year', 'Month']) {
        const choice = page.getByRole('radio', { name: scale, exact: true })
        if ((await choice.count()) === 0) continue
        await choice.click()
        await audit(`calendar, ${scale}`, '[data-day]')
      }
      await visit('form builder', tablePath('Tasks', 'New task'), '[data-testid="form-screen"]')
      await visit('gallery', tablePath('People', 'Cards'), '[data-testid="gallery-card"]')
      await visit('map', tablePath('People', 'Map'), '[data-testid="map"], [data-testid="map-unavailable"]')
      await done()
    },
    TIMEOUT_MS,
  )

  test(
    'by shared pages and public forms',
    async () => {
      const { page, visit, audit, done } = await openAudit({ isPhone, isSignedIn: false })
      const api = app.trpc(owner.token)
      const shareOf = async (table: string, view: string, settings = {}) =>
        (
          await api.shares.save.mutate({
            kind: 'view',
            targetId: tables.get(table)?.views.get(view) ?? '',
            patch: { settings },
          })
        ).id
      const form = await shareOf('Tasks', 'New task')
      await visit('public form', `/nc/form/${form}`, '[data-testid="public-form"]', 'form')
      await page.getByTestId('form-submit').click()
      await page.waitForTimeout(300)
      await audit('public form with errors', '[data-testid="public-form"], [data-testid="form-notice"]')
      await visit('survey', `/nc/form/${form}/survey`, '[data-testid="survey"]', 'form')
      await page.getByRole('button', { name: 'Start' }).click()
      await audit('survey, a question', page.getByTestId('survey-next'))
      for (const [table, view] of [
        ['Tasks', 'Tasks'],
        ['Tasks', 'Board'],
        ['Tasks', 'Calendar'],
        ['People', 'Cards'],
        ['People', 'Map'],
      ] as const) {
        const share = await shareOf(table, view)
        await visit(`shared view ${view}`, `/nc/view/${share}`, '[role="toolbar"]', 'shared')
      }
      const base = await api.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
      await visit('shared base', `/base/base/${base.id}`, '[role="toolbar"]', 'shared')
      const locked = await api.shares.save.mutate({
        kind: 'view',
        targetId: tables.get('Projects')?.views.get('Projects') ?? '',
        patch: { password: 'sesame-open' },
      })
      await visit('password of a link', `/nc/view/${locked.id}`, '[data-testid="share-password"]', 'shared')
      await page.getByLabel('Password', { exact: true }).fill('wrong-one')
      await page.keyboard.press('Enter')
      await audit('wrong password of a link', page.getByText('Incorrect password'))
      const { body: invited } = await app
        .rest(owner.token)
        .post('/api/v1/users', { email: `guest-${isPhone}@example.com` })
      await visit('invitation', `/signup/${invited.invite_token}`, 'main form')
      await visit('closed link', '/nc/view/none', '[data-testid="share-closed"]', 'shared')
      await visit('closed form', '/nc/form/none', '[data-testid="form-notice"]', 'form')
      await done()
    },
    TIMEOUT_MS,
  )
})
