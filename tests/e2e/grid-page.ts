import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { TableSchema } from '../../src/core/model.ts'
import { createTestApp, type TestApp, type TestAppOptions, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'

type FieldInput = Parameters<ReturnType<TestApp['trpc']>['schema']['createTable']['mutate']>[0]['fields']

/** A table that tests open. */
export interface OpenTable {
  schema: TableSchema
  baseId: string
  tableId: string
}

/** A table of its own base with records; the values of each row stand in the order of the fields. */
async function createTable(
  app: TestApp,
  owner: TestUser,
  fields: NonNullable<FieldInput>,
  rows: CellValue[][] = [],
): Promise<OpenTable> {
  const api = app.trpc(owner.token)
  const base = await createBase(app, owner)
  const schema = await api.schema.createTable.mutate({ baseId: base.id, title: 'Tasks', fields })
  const tableId = schema.table.id
  const ids = fields.map(({ title }) => schema.fields.find((field) => field.title === title)?.id ?? '')
  const values = rows.map((row): Values => Object.fromEntries(row.map((value, at) => [ids[at] ?? '', value])))
  for (let from = 0; from < values.length; from += 1000) {
    const part = values.slice(from, from + 1000).map((each) => ({ values: each }))
    const change = { baseId: base.id, operations: [{ kind: 'insert' as const, tableId, rows: part }] }
    await api.records.write.mutate({ change })
  }
  return { schema, baseId: base.id, tableId }
}

export type GridPage = Awaited<ReturnType<typeof openGrid>>

type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>

/**
 * Only ends hanging tests, as Playwright's own limit of the same length: on a busy machine a page takes seconds for what
 * takes milliseconds alone.
 */
const WAIT_MS = 30_000

const PERMISSIONS = ['clipboard-read', 'clipboard-write']

/** A signed-in browser context for the tests of one file, one at a time. */
interface Profile {
  context: BrowserContext
  /** Resets the context; see `createProfiles`. */
  reset(): Promise<void>
}

/**
 * Signed-in contexts by user. Those with the default options are used again by the next test of the file, because their
 * process and its compiled scripts take most of the time of opening a page. Tests get new pages, and no storage, cookies,
 * routes or permissions of the tests before.
 */
function createProfiles(browser: () => Browser, app: () => TestApp) {
  const idle = new Map<string, Profile[]>()

  async function create(user: TestUser, options: ContextOptions): Promise<Profile> {
    const context = await browser().newContext({
      viewport: { width: 1280, height: 800 },
      permissions: PERMISSIONS,
      ...options,
    })
    await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), user.token)
    // Keeps the process of the context alive.
    const blank = await context.newPage()
    const session = await context.newCDPSession(blank)

    async function reset(): Promise<void> {
      await Promise.all(context.pages().map((page) => page === blank || page.close()))
      await context.unrouteAll({ behavior: 'ignoreErrors' })
      await context.setOffline(false)
      await context.clearPermissions()
      await context.grantPermissions(PERMISSIONS)
      await context.setGeolocation(null)
      await context.clearCookies()
      await session.send('Storage.clearDataForOrigin', { origin: app().url, storageTypes: 'local_storage' })
    }
    return { context, reset }
  }

  return {
    take: async (user: TestUser, options: ContextOptions = {}): Promise<Profile> =>
      (Object.keys(options).length === 0 && idle.get(user.token)?.pop()) || create(user, options),

    /** Closes the pages of a test. */
    async giveBack(user: TestUser, profile: Profile, options: ContextOptions = {}): Promise<void> {
      if (Object.keys(options).length > 0) return profile.context.close()
      await profile.reset()
      idle.set(user.token, [...(idle.get(user.token) ?? []), profile])
    },
  }
}

/** A view of another kind, which is opened instead of the grid. */
export interface OtherView {
  viewId: string
  /** Runs before the page loads. */
  prepare?: (page: Page) => Promise<void>
}

/** Waits until a grid takes input. Before that, it holds keys and presses, and nothing they do can be seen. */
export const untilInput = (page: Page): Promise<void> =>
  page.locator('[data-grid][data-takes-input]').waitFor()

/**
 * Opens a table on a page of its own, and waits for its records and its input; for those of another view the caller waits.
 * `calls` are the calls to the server since it was last emptied; `problems` are errors of the page and its console.
 */
async function openGrid({ context }: Profile, app: TestApp, table: OpenTable, view?: OtherView) {
  const page = await context.newPage()
  const known = context.pages()
  const problems: string[] = []
  const calls: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('request', (request) => {
    const [, path] = request.url().split('/trpc/')
    if (path) calls.push(path.split('?')[0] ?? '')
  })
  const address = `${app.url}/#/nc/${table.baseId}/${table.tableId}`
  if (view) {
    await view.prepare?.(page)
    await page.goto(`${address}/${view.viewId}`)
  } else {
    await page.goto(address)
    await page.waitForSelector('[role="gridcell"], [data-testid="add-record"]')
    // Skeletons are cells as well, but a click on one does nothing.
    await page.waitForFunction(() => !document.querySelector('[data-testid="row"]:not([data-loaded])'))
    await untilInput(page)
    calls.length = 0
  }
  const fieldId = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? title
  const cell = (row: number, title: string) =>
    page.locator(`[role="gridcell"][data-row="${row}"][data-field="${fieldId(title)}"]`)

  const column = async (title: string, count: number): Promise<string[]> => {
    const texts: string[] = []
    for (let row = 0; row < count; row++) texts.push((await textOf(cell(row, title))).trim())
    return texts
  }

  const writes = () => calls.filter((call) => WRITES.test(call))

  return {
    page,
    context,
    problems,
    calls,
    cell,
    header: (title: string) => page.locator(`[role="columnheader"][data-field="${fieldId(title)}"]`),
    /** The texts of a column's cells, from the first row. */
    column,
    /** Expects these texts in a column, from its first row: the records come a moment after their number. */
    shows: async (title: string, texts: string[]) =>
      expect(
        await eventually(
          () => column(title, texts.length),
          (now) => Bun.deepEquals(now, texts),
        ),
      ).toEqual(texts),
    /** Expects this text in a cell far down, which is drawn empty until its page of records has arrived. */
    showsIn: async (row: number, title: string, text: string) =>
      expect(
        await eventually(
          () => textOf(cell(row, title)),
          (now) => now === text,
        ),
      ).toBe(text),
    /** Writes, and nothing that reads. */
    writes,
    /** Expects these writes. The browser's word of a request may come after the server has answered it. */
    untilWritten: async (expected: string[]) =>
      expect(
        await eventually(
          async () => writes(),
          (now) => now.length >= expected.length,
        ),
      ).toEqual(expected),
    /** Waits until everything typed is with the server. */
    saved: () => page.waitForFunction(() => document.querySelector('[data-state="saving"]') === null),
    titles: () => page.locator('[role="columnheader"][data-field]').allTextContents(),
    paste: async (text: string) => {
      await page.evaluate((plain) => navigator.clipboard.writeText(plain), text)
      await page.keyboard.press('ControlOrMeta+v')
    },
    /** Pages that were opened from this one. */
    openedPages: () => context.pages().filter((other) => !known.includes(other)),
    close: () => page.close(),
  }
}

const WRITES =
  /^(records\.(write|undo|redo|deleteMatching|updateMatching)|schema\.(create|update|add|delete)|views\.(?!titles$))/

/** Waits until a drag begins with its first move: dnd-kit, which has an element for screen readers, loads late. */
export const untilDraggable = (page: Page): Promise<void> =>
  page.locator('[id^="DndLiveRegion"]').first().waitFor({ state: 'attached' })

/** dnd-kit ignores clicks for 50 ms after a drag; a person takes longer to press something else. */
export const AFTER_DRAG_MS = 80

/**
 * Reads until the value holds, e.g. for changes in another browser, which take a moment to arrive.
 *
 * @throws with the last value when the time is over
 */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  timeoutMs = WAIT_MS,
): Promise<T> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (performance.now() > until) throw new Error(`Still ${Bun.inspect(value)} after ${timeoutMs} ms`)
    await Bun.sleep(50)
  }
}

/** A page for looking into what the clipboard holds. */
export const clipboardOf = (page: Page): Promise<{ plain: string; html: string }> =>
  page.evaluate(async () => {
    const [item] = await navigator.clipboard.read()
    const read = async (type: string) =>
      item?.types.includes(type) ? await (await item.getType(type)).text() : ''
    return { plain: await read('text/plain'), html: await read('text/html') }
  })

/** What a copy puts on the clipboard, which takes a moment if it reads from the server first. */
export async function copied(
  page: Page,
  copy: () => Promise<unknown> = () => page.keyboard.press('ControlOrMeta+c'),
): Promise<{ plain: string; html: string }> {
  // All tests share the clipboard, and those before have copied as well.
  const before = `before ${crypto.randomUUID()}`
  await page.evaluate((text) => navigator.clipboard.writeText(text), before)
  await copy()
  // As text alone first: the forms of what is replaced meanwhile cannot be read.
  await eventually(
    () => page.evaluate(() => navigator.clipboard.readText()),
    (text) => text !== before,
  )
  return clipboardOf(page)
}

/** The text of an element, also of what does not fit into its box. */
export const textOf = async (locator: Locator): Promise<string> => (await locator.textContent()) ?? ''

/** The box of an element once it rests: menus and lists are drawn before they are placed. */
export async function restingBox(locator: Locator) {
  await (await locator.elementHandle())?.waitForElementState('stable')
  const box = await locator.boundingBox()
  if (!box) throw new Error('the element is not visible')
  return box
}

/** What the server and the browser of a file of tests are started with. */
export interface GridTestOptions {
  browserArgs?: readonly string[]
  config?: TestAppOptions['config']
}

/**
 * One server and one browser for a file of tests. After each test its pages are closed, and nothing
 * may have gone wrong in them.
 */
export function gridTests({ browserArgs = [], config = {} }: GridTestOptions = {}) {
  let app: TestApp
  let browser: Browser
  let owner: TestUser
  const profiles = createProfiles(
    () => browser,
    () => app,
  )
  const opened: { grid: GridPage; giveBack: () => Promise<void> }[] = []

  beforeAll(async () => {
    ;[app, browser] = await Promise.all([createTestApp({ config }), shareBrowser(browserArgs)])
    owner = await app.signUp()
  })
  afterEach(async () => {
    const problems = opened.flatMap(({ grid }) => grid.problems)
    await Promise.all(opened.splice(0).map(({ giveBack }) => giveBack()))
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await closeContexts(browser)
    await app?.stop()
  })

  /** @param options of the browser's context: its time zone, its size */
  async function openTable(
    table: OpenTable,
    user: TestUser = owner,
    options?: ContextOptions,
    view?: OtherView,
  ): Promise<GridPage> {
    const profile = await profiles.take(user, options)
    const grid = await openGrid(profile, app, table, view)
    opened.push({ grid, giveBack: () => profiles.giveBack(user, profile, options) })
    return grid
  }

  return {
    app: () => app,
    owner: () => owner,
    createTable: (fields: NonNullable<FieldInput>, rows?: CellValue[][]) =>
      createTable(app, owner, fields, rows),
    openTable,
    /** A new table with these records, open. */
    open: async (fields: NonNullable<FieldInput>, rows?: CellValue[][]) =>
      openTable(await createTable(app, owner, fields, rows)),
  }
}

/** The number of records in the footer, as `4 records`. */
export const recordCount = (grid: GridPage): Promise<string> => textOf(grid.page.getByTestId('record-count'))

/** Waits for that number of records. */
export const untilCount = (grid: GridPage, text: string): Promise<string> =>
  eventually(
    () => recordCount(grid),
    (now) => now === text,
  )

/**
 * Holds back the scripts that the page of a grid asks for from now on, as a slow network does. Those that load after the
 * first content have arrived before. Returns what lets the others through.
 */
export async function holdScripts(page: Page): Promise<() => void> {
  // A busy page may be idle before it asks for them.
  await untilInput(page)
  await page.waitForLoadState('networkidle')
  const released = Promise.withResolvers<void>()
  await page.route(
    () => true,
    async (route) => {
      if (route.request().resourceType() === 'script') await released.promise
      await route.continue()
    },
  )
  return released.resolve
}
