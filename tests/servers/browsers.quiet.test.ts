import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import type { ServerProcess } from '../imports/server-process.ts'
import { launchBrowser } from '../support/chromium.ts'
import { startThreeServers, type ThreeServers } from './support.ts'

/** From the last key of one person until it is on the other's screen, in the median. */
const PROMISE_MS = 300
const TRIES = 5

// Two people in Chromium, each connected to another server process over one PostgreSQL.
let world: ThreeServers
let browser: Browser
let mine: Page
let theirs: Page
let baseId: string
let tableId: string
let titleId: string
const problems: string[] = []

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startThreeServers({ NODE_ENV: 'production' }), launchBrowser()])
  const [first, second] = world.servers
  const api = world.trpc(first)
  baseId = (await api.bases.create.mutate({ title: 'Shared' })).id
  const { table, fields } = await api.schema.createTable.mutate({
    baseId,
    title: 'Tasks',
    fields: [{ title: 'Title', type: 'SingleLineText' }],
  })
  tableId = table.id
  titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
  const titles = Array.from({ length: 8 }, (_, at) => ({ Title: `Task ${at}` }))
  await world.rest(first).post(`/api/v2/tables/${tableId}/records`, titles)
  const member = await world.signUp()
  await api.bases.invite.mutate({ baseId, emails: [member.email], role: 'editor' })
  const own = world.trpc(second, member.token).notifications
  await own.watch.mutate({ target: { tableId, recordId: 1 }, isOn: true })
  await own.markAllRead.mutate()
  ;[mine, theirs] = await Promise.all([open(first, world.owner.token), open(second, member.token)])
  // Both know of each other: their connections are there.
  for (const page of [mine, theirs]) await page.getByTestId('person-here').first().waitFor()
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

async function open(server: ServerProcess, token: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(15_000)
  await context.addInitScript((session) => localStorage.setItem('sheaf.token', session), token)
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${server.url}/#/nc/${baseId}/${tableId}`)
  await page.locator(`[role="gridcell"][data-row="7"][data-field="${titleId}"]`).waitFor()
  return page
}

const cell = (page: Page, row: number) =>
  page.locator(`[role="gridcell"][data-row="${row}"][data-field="${titleId}"]`)

/**
 * Measures from the last key on one screen until elements of the other have another text or place, by the clock that
 * both pages share.
 *
 * @param watched the elements on the other screen, which may appear
 */
async function measure(watched: string, act: (attempt: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  // The first is not counted: its code is compiled and its parts are loaded.
  for (let attempt = 0; attempt <= TRIES; attempt++) {
    await theirs.evaluate((selector) => {
      const look = () => {
        const found = [...document.querySelectorAll(selector)]
        const { x, y } = found[0]?.getBoundingClientRect() ?? { x: 0, y: 0 }
        return `${found.map(({ textContent }) => textContent).join()} ${x} ${y}`
      }
      const before = look()
      Object.assign(window, {
        seenAt: new Promise<number>((resolve) => {
          const next = () => (look() === before ? requestAnimationFrame(next) : resolve(Date.now()))
          next()
        }),
      })
    }, watched)
    // Of the last key: what was typed before it is not stored yet.
    await mine.evaluate(() => {
      const note = () => Object.assign(window, { pressedAt: Date.now() })
      window.addEventListener('keydown', note, { capture: true })
    })
    await act(attempt)
    const seenAt = await theirs.evaluate(() => (window as unknown as { seenAt: Promise<number> }).seenAt)
    const pressedAt = await mine.evaluate(() => (window as unknown as { pressedAt: number }).pressedAt)
    if (attempt > 0) times.push(seenAt - pressedAt)
    // As a person would: presence and notifications of quick successions are gathered.
    await Bun.sleep(400)
  }
  return times
}

function expectInTime(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
  console.info(`${what} between browsers on two servers: median ${median} ms of ${sorted.join(', ')}`)
  expect(median).toBeLessThan(PROMISE_MS)
}

describe('a person in another browser, on another server', () => {
  test('sees an edit', async () => {
    const times = await measure(
      `[role="gridcell"][data-row="2"][data-field="${titleId}"]`,
      async (attempt) => {
        await cell(mine, 2).click()
        await mine.keyboard.type(`edit ${attempt}`, { delay: 0 })
        await mine.keyboard.press('Enter')
      },
    )
    expectInTime('edits', times)
  })

  test('sees which cell is selected', async () => {
    await cell(mine, 0).click()
    await theirs.getByTestId('other-cell').waitFor()
    const times = await measure('[data-testid="other-cell"]', (attempt) =>
      mine.keyboard.press(attempt % 2 === 0 ? 'ArrowDown' : 'ArrowUp'),
    )
    expectInTime('selected cells', times)
  })

  test('is notified of a comment on a watched record', async () => {
    await openComments(mine, 0)
    const times = await measure('[data-testid="unread-badge"]', (attempt) => comment(`notified ${attempt}`))
    expectInTime('notifications', times)
  })

  test('sees a comment', async () => {
    await openComments(theirs, 0)
    await theirs.getByTestId('comment').last().waitFor()
    const times = await measure('[data-testid="comment"]', (attempt) => comment(`seen ${attempt}`))
    expectInTime('comments', times)
    expect(problems).toEqual([])
  })
})

async function openComments(page: Page, row: number): Promise<void> {
  await cell(page, row).click()
  await page.keyboard.press('Space')
  await page.getByTestId('record-panel').getByRole('tab', { name: 'Comments' }).click()
  await page.getByRole('textbox', { name: 'New comment' }).waitFor()
}

async function comment(text: string): Promise<void> {
  await mine.getByRole('textbox', { name: 'New comment' }).fill(text)
  await mine.keyboard.press('Enter')
}
