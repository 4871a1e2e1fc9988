import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMember } from '../support/factories.ts'
import { eventually, type GridPage, gridTests } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]
const ROWS = [['Alpha'], ['Beta'], ['Gamma']]

const SHOTS = process.env.NOTIFICATION_SHOTS
const shot = async (page: Page, name: string) =>
  void (SHOTS && (await page.screenshot({ path: `${SHOTS}/${name}.png` })))

const bell = (page: Page) => page.getByRole('button', { name: /notification/i }).first()
const rows = (page: Page) => page.getByTestId('notifications').getByRole('listitem')
const badge = (page: Page) => page.getByTestId('unread-badge')

async function openRecord({ page, cell }: GridPage, row: number): Promise<void> {
  await cell(row, 'Title').click()
  await page.keyboard.press('Space')
  await page.getByTestId('record-panel').waitFor()
}

describe('a mention', () => {
  test('is offered while typing, reaches the person live, and opens the comment', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const member = await createMember(tests.app(), table.baseId, 'commenter')
    await tests.app().trpc(member.token).auth.updateProfile.mutate({ displayName: 'Mia Long' })
    const api = tests.app().trpc(member.token)
    await api.notifications.markAllRead.mutate()
    const [own, other] = [await tests.openTable(table), await tests.openTable(table, member)]
    await bell(other.page).waitFor()
    await openRecord(own, 1)
    await own.page.getByRole('tab', { name: 'Comments' }).click()
    await own.page.getByRole('textbox', { name: 'New comment' }).click()
    await own.page.keyboard.type('Please look, @lon')
    await own.page.getByRole('option', { name: /Mia Long/ }).waitFor()
    await shot(own.page, 'mention-list')
    await own.page.keyboard.press('Enter')
    await own.page.keyboard.type('today')
    await own.page.keyboard.press('Enter')
    await own.page.getByTestId('comment').getByText('@Mia Long').waitFor()
    const { comments } = await api.comments.list.query({ tableId: table.tableId, recordId: 2 })
    expect(comments[0]?.text).toBe(`Please look, @(${member.id}) today`)

    await badge(other.page).waitFor()
    expect(await badge(other.page).textContent()).toBe('1')
    expect(await other.page.title()).toMatch(/^\(1\) /)
    const toast = other.page.locator('[data-toasts]').getByText(/mentioned you on Beta/)
    await toast.waitFor()
    await shot(other.page, 'toast')
    await bell(other.page).click()
    await rows(other.page).first().waitFor()
    await shot(other.page, 'list')
    await rows(other.page).getByRole('link').click()
    await other.page.getByTestId('comment').getByText('Please look').waitFor()
    await badge(other.page).waitFor({ state: 'detached' })
    await shot(other.page, 'opened')
    await bell(other.page).click()
    await other.page.getByText('Nothing unread').waitFor()
    await shot(other.page, 'empty')
    await other.page.getByRole('tab', { name: 'All' }).click()
    await rows(other.page).first().hover()
    await rows(other.page).first().getByRole('button', { name: 'Mark as unread' }).click()
    await badge(other.page).waitFor()
    await other.page.getByRole('button', { name: 'Mark all as read' }).click()
    await badge(other.page).waitFor({ state: 'detached' })
    const count = await rows(other.page).count()
    await rows(other.page).first().getByRole('button', { name: 'Delete notification' }).click()
    expect(
      await eventually(
        () => rows(other.page).count(),
        (left) => left === count - 1,
      ),
    ).toBe(count - 1)
  })
})

describe('the message of a notification', () => {
  test('stays for 4.5 seconds', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const member = await createMember(tests.app(), table.baseId, 'viewer')
    const api = tests.app().trpc(tests.owner().token)
    const mention = (recordId: number) =>
      api.comments.create.mutate({ tableId: table.tableId, recordId, text: `Hello @(${member.id})` })
    await mention(2)
    const own = await tests.openTable(table)
    const { page } = await tests.openTable(table, member)
    // What comes before the page has read what there is, and is connected, is counted without a message.
    await badge(page).waitFor()
    await own.page.getByTestId('person-here').first().waitFor()
    // Measured in the page, by its own timers: however busy the machine is, they end in their order.
    const shown = page.evaluate(async () => {
      const isShown = () =>
        Boolean(document.querySelector('[data-toasts]')?.textContent?.includes('mentioned you'))
      const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
      const until = (wanted: boolean) =>
        new Promise<number>((resolve) => {
          const observer = new MutationObserver(look)
          function look() {
            if (isShown() !== wanted) return
            observer.disconnect()
            resolve(performance.now())
          }
          observer.observe(document.body, { childList: true, characterData: true, subtree: true })
          look()
        })
      const from = await until(true)
      const isLate = pause(7_000)
        .then(() => pause(300))
        .then(isShown)
      return { forMs: (await until(false)) - from, isLate: await isLate }
    })
    await mention(1)
    const { forMs, isLate } = await shown
    expect(forMs).toBeGreaterThan(4_300)
    expect(isLate).toBe(false)
  })
})

describe('a watched record and view', () => {
  test('are chosen in the record and the menu of the view, and listed in the settings', async () => {
    const table = await tests.createTable(FIELDS, ROWS)
    const member = await createMember(tests.app(), table.baseId, 'editor')
    const api = tests.app().trpc(member.token)
    await api.notifications.markAllRead.mutate()
    const grid = await tests.openTable(table, member)
    const { page } = grid
    await openRecord(grid, 0)
    await page.getByRole('button', { name: 'Watch this record' }).click()
    await page.getByRole('button', { name: 'Watch this record', pressed: true }).waitFor()
    await shot(page, 'record')
    await page.getByTestId('record-panel').getByRole('button', { name: 'Close' }).click()
    await page
      .getByRole('button', { name: /^Options for view/ })
      .first()
      .click()
    await page.getByRole('menuitemcheckbox', { name: 'Watch this view' }).click()
    expect(
      await eventually(
        () => api.notifications.watched.query(),
        (found) => found.length === 2,
      ),
    ).toHaveLength(2)
    await tests
      .app()
      .rest(tests.owner().token)
      .patch(`/api/v2/tables/${table.tableId}/records`, { Id: 1, Title: 'Alpha 2' })
    expect(
      await eventually(
        () => badge(page).textContent(),
        (text) => text === '2',
      ),
    ).toBe('2')
    await bell(page).click()
    await rows(page).getByText('changed Title of Alpha 2').waitFor()
    await page.getByRole('link', { name: 'Notification settings' }).click()
    await page.getByRole('heading', { name: 'What you watch' }).waitFor()
    const watches = page.getByRole('region', { name: 'What you watch' })
    expect(
      await eventually(
        () => watches.getByRole('listitem').count(),
        (n) => n === 2,
      ),
    ).toBe(2)
    await shot(page, 'settings')
    await watches.getByRole('button', { name: 'Stop watching this record' }).click()
    expect(
      await eventually(
        () => watches.getByRole('listitem').count(),
        (n) => n === 1,
      ),
    ).toBe(1)

    await page.getByRole('combobox', { name: 'Base', exact: true }).selectOption(table.baseId)
    await page.getByRole('switch', { name: 'Mute this base' }).click()
    expect(
      await eventually(
        () => api.notifications.settings.query(),
        ({ bases }) => bases[0]?.isMuted === true,
      ),
    ).toMatchObject({ bases: [{ baseId: table.baseId, isMuted: true }] })
    await shot(page, 'settings-muted')
    if (SHOTS) {
      await page.setViewportSize({ width: 390, height: 800 })
      await shot(page, 'settings-narrow')
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
      await page.setViewportSize({ width: 1280, height: 800 })
      await bell(page).click()
      await page.waitForTimeout(300)
      await shot(page, 'rtl')
    }
  })
})

test('the link of a mail ends mails without a session', async () => {
  const table = await tests.createTable(FIELDS, ROWS)
  const { page, problems } = await tests.openTable(table)
  const { services, url } = tests.app()
  await page.evaluate(() => localStorage.clear())
  await page.goto(`${url}/dashboard/#/unsubscribe/none`)
  await page.reload()
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await page.getByText('This link to unsubscribe is not valid').waitFor()
  // The browser reports the refused call.
  problems.length = 0
  await shot(page, 'unsubscribe')
  await page.goto(
    `${url}/dashboard/#/unsubscribe/${services.notifications.unsubscribeToken(tests.owner().id)}`,
  )
  await page.reload()
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await page.getByText('You will get no more emails').waitFor()
  const api = tests.app().trpc(tests.owner().token)
  expect((await api.notifications.settings.query()).isUnsubscribed).toBe(true)
})
