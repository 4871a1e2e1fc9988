import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Secret', type: 'LongText' as const },
]
const ROWS = [
  ['apple', 5, 'x'],
  ['banana', 20, 'y'],
]

const owners = () => tests.app().trpc(tests.owner().token)
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Share' })
const publicLink = (page: Page) => page.getByRole('switch', { name: 'Public link' })
const address = (page: Page) => page.getByTestId('share-address').inputValue()

describe('the share dialog', () => {
  test('opens and closes a view’s link, and sets its address, password, end and look', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const [view] = table.schema.views
    const target = { kind: 'view' as const, targetId: view?.id ?? '' }
    const secret = table.schema.fields.find(({ title }) => title === 'Secret')?.id ?? ''
    await owners().views.arrange.mutate({
      viewId: target.targetId,
      fields: [{ fieldId: secret, show: false }],
    })
    const share = () => owners().shares.get.query(target)
    const { page } = await tests.openTable(table)
    await page.keyboard.press('Alt+i')
    await dialog(page).waitFor()
    expect(await publicLink(page).isChecked()).toBe(false)
    await publicLink(page).click()
    await page.getByTestId('share-address').waitFor()
    const first = await share()
    await page
      .getByRole('button', { name: 'Views of Tasks', includeHidden: true })
      .evaluate((one: HTMLElement) => one.click())
    await page.getByRole('img', { name: 'Shared with a public link', includeHidden: true }).waitFor()
    expect(await address(page)).toContain(`#/nc/view/${first?.id}`)
    expect(await page.getByTestId('what-is-seen').textContent()).toContain('not accessible')

    // What does not do as an address is said where it is typed; the text stays.
    const custom = page.getByLabel('Custom URL')
    await custom.fill('no')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('alert').waitFor()
    expect(await custom.inputValue()).toBe('no')
    await custom.fill('stock-list')
    await page.keyboard.press('Enter')
    await eventually(
      () => address(page),
      (text) => text.endsWith('/nc/view/stock-list'),
    )

    await page.getByRole('button', { name: 'Set password' }).click()
    await page.keyboard.type('abc')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('alert').waitFor()
    await page.keyboard.type('defgh1A!')
    await dialog(page).getByText('Strong').waitFor()
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Visitors need a password.').waitFor()
    // The input has gone with the focus.
    await page.waitForFunction(() => document.activeElement?.textContent === 'Change password')

    await page.getByRole('button', { name: 'Set expiry' }).click()
    await page.getByLabel('Expires on').fill('2020-01-01T10:00')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Choose a date in the future').waitFor()
    await page.getByLabel('Expires on').fill('2099-01-01T10:00')
    await page.keyboard.press('Enter')
    await dialog(page)
      .getByText(/Expires on January 1, 2099/)
      .waitFor()

    await page.getByRole('switch', { name: 'Allow download' }).click()
    await page.getByRole('radio', { name: 'Colour 2' }).click()
    const saved = await eventually(share, (one) => one?.settings.themeColor !== null)
    expect(saved).toMatchObject({ id: 'stock-list', hasPassword: true, settings: { allowDownload: false } })

    // What has a password is closed after asking: the password cannot be given back.
    await publicLink(page).click()
    await page.getByRole('button', { name: 'Turn off link' }).click()
    await page.getByTestId('share-address').waitFor({ state: 'detached' })
    expect(await share()).toBe(null)
  })

  test('gives an address anew, and back again after it was closed', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const { page } = await tests.openTable(table)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await publicLink(page).click()
    await page.getByTestId('share-address').waitFor()
    const first = await address(page)
    await page.getByRole('button', { name: 'Reset link' }).click()
    await page.getByRole('button', { name: 'Reset', exact: true }).click()
    const second = await eventually(
      () => address(page),
      (text) => text !== first,
    )
    await page.getByRole('button', { name: 'QR code', exact: true }).click()
    await page.getByRole('img', { name: new RegExp(`QR code of ${second.slice(0, 20)}`) }).waitFor()
    await publicLink(page).click()
    await page.getByTestId('share-address').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByTestId('share-address').waitFor()
    expect(await address(page)).toBe(second)
  })

  test('makes a link to a form with answers in it, and asks one question at a time', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const form = await owners().views.create.mutate({ tableId: table.tableId, title: 'Ask', kind: 'form' })
    const { page } = await tests.openTable(table)
    await page.evaluate(
      (path) => window.location.assign(path),
      `#/nc/${table.baseId}/${table.tableId}/${form.id}`,
    )
    await page.getByRole('banner').getByRole('button', { name: 'Options for view Ask' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await publicLink(page).click()
    await page.getByTestId('share-address').waitFor()
    await page.getByRole('switch', { name: 'Survey' }).click()
    await eventually(
      () => address(page),
      (text) => text.endsWith('/survey'),
    )
    await page.getByRole('button', { name: 'Prefilled link' }).click()
    await dialog(page).getByLabel('Stock').fill('many')
    await dialog(page).getByText('Invalid for this field').waitFor()
    await dialog(page).getByLabel('Stock').fill('7')
    await dialog(page).getByLabel('Prefilled answers are').selectOption('hidden')
    const link = await page.getByLabel('Prefilled link').inputValue()
    expect(link).toMatch(/\/nc\/form\/\w+\/survey\?Stock=7&_prefill=hidden$/)
  })

  test('shares the base as viewer or editor, and tells who may not why', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const { page } = await tests.openTable(table)
    await page.keyboard.press('Alt+i')
    await page.getByRole('tab', { name: /Base/ }).click()
    await publicLink(page).click()
    await page.getByTestId('share-address').waitFor()
    await page.getByRole('radio', { name: /Editor/ }).click()
    const share = () => owners().shares.get.query({ kind: 'base', targetId: table.baseId })
    expect((await eventually(share, (one) => one?.role === 'editor'))?.role).toBe('editor')

    const theirs = await tests.openTable(table, editor)
    const button = theirs.page.getByRole('button', { name: 'Share', exact: true })
    await button.hover()
    await theirs.page.getByText('Only creators and owners can share').waitFor()
    await button.click({ force: true })
    await theirs.page.keyboard.press('Alt+i')
    expect(await dialog(theirs.page).count()).toBe(0)
  })
})
