import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { TestUser } from '../support/app.ts'
import {
  AFTER_DRAG_MS,
  eventually,
  type GridPage,
  type gridTests,
  type OpenTable,
  untilDraggable,
} from './grid-page.ts'

const UTC = { timeZone: 'UTC' }
/** A title, a stretch of time, and a day that no two records share. */
export const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Start', type: 'DateTime' as const, options: UTC },
  { title: 'End', type: 'DateTime' as const, options: UTC },
  { title: 'Due', type: 'Date' as const, unique: true },
]

/** It is Wednesday, the 14th of January 2026. */
const NOW = new Date('2026-01-14T12:00:00Z')
/** An instant of January 2026, as it is stored. */
export const at = (day: number, time: string) => `2026-01-${String(day).padStart(2, '0')} ${time}:00+00:00`

/** What most tests look at. */
export const ROWS: CellValue[][] = [
  ['Workshop', at(14, '09:00'), at(14, '10:30'), null],
  ['Conference', at(12, '08:00'), at(15, '17:00'), null],
  ['Invoice', null, null, '2026-01-20'],
  ['Taxes', null, null, '2026-01-22'],
  ['Someday', null, null, null],
  ['February', at(14, '09:00').replace('-01-', '-02-'), null, null],
]

export type Calendar = Awaited<ReturnType<typeof openCalendar>>

/** A calendar over `Start` to `End` and over `Due`, open at `NOW`. */
export async function openCalendar(
  tests: ReturnType<typeof gridTests>,
  rows: CellValue[][] = ROWS,
  {
    scale = 'month',
    user = tests.owner(),
    table,
    browser,
  }: {
    scale?: string
    user?: TestUser
    table?: OpenTable
    browser?: Parameters<typeof tests.openTable>[2]
  } = {},
) {
  const made = table ?? (await tests.createTable(FIELDS, rows))
  const id = (title: string) => made.schema.fields.find((field) => field.title === title)?.id ?? ''
  const ranges = [
    { fromFieldId: id('Start'), toFieldId: id('End') },
    { fromFieldId: id('Due'), toFieldId: null },
  ]
  const view = await tests.app().trpc(tests.owner().token).views.create.mutate({
    tableId: made.tableId,
    title: 'Plan',
    kind: 'calendar',
    options: { ranges, scale },
  })
  const prepare = async (page: Page) => {
    await page.addInitScript(startClockAt, NOW.getTime())
  }
  const grid: GridPage = await tests.openTable(made, user, browser, { viewId: view.id, prepare })
  const { page } = grid
  await page.getByTestId('calendar-list-count').waitFor()
  const api = tests.app().trpc(tests.owner().token)
  return {
    grid,
    page,
    view,
    table: made,
    id,
    api,
    event: (title: string) => page.locator('[data-testid="calendar-event"]', { hasText: title }),
    day: (day: string) => page.locator(`[data-day="${day}"]:not([data-hours])`),
    hours: (day: string) => page.locator(`[data-day="${day}"][data-hours]`),
    line: (title: string) => page.locator('[data-testid="calendar-list-row"]', { hasText: title }),
    /** The values of a record with the server. */
    stored: async (recordId: number): Promise<Values> =>
      (await api.records.get.query({ tableId: made.tableId, recordId })).values,
    said: (text: string) =>
      page.getByTestId('calendar-said').filter({ hasText: text }).waitFor({ state: 'attached' }),
  }
}

/** Runs in the page. Its clock goes on from there; Playwright's own needs `eval`, which the page forbids itself. */
function startClockAt(start: number): void {
  const RealDate = Date
  const shift = start - RealDate.now()
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) =>
      args.length > 0 ? Reflect.construct(target, args) : new target(RealDate.now() + shift),
    get: (target, name) => (name === 'now' ? () => RealDate.now() + shift : Reflect.get(target, name)),
  })
}

/** Sends a touch event at a point of the window; Playwright itself can only tap. */
export async function createFinger(page: Page) {
  const session = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points })
  return {
    down: (x: number, y: number) => send('touchStart', [{ x, y }]),
    move: (x: number, y: number) => send('touchMove', [{ x, y }]),
    up: () => send('touchEnd', []),
  }
}

/** Drags from the middle of an element, or a part of it, to a part of another. */
export async function drag(
  page: Page,
  from: Locator,
  to: Locator,
  parts: { from?: number[]; to?: number[] } = {},
) {
  const [fx = 0.5, fy = 0.5] = parts.from ?? []
  const [tx = 0.5, ty = 0.5] = parts.to ?? []
  const near = await from.boundingBox()
  if (!near) throw new Error('there is nothing to drag')
  await page.mouse.move(near.x + near.width * fx, near.y + near.height * fy)
  await untilDraggable(page)
  // A drop before may still be on its way to where it ends.
  await page.locator('[data-dragging]').waitFor({ state: 'detached' })
  const [a, b] = [await from.boundingBox(), await to.boundingBox()]
  if (!a || !b) throw new Error('there is nothing to drag')
  await page.mouse.move(a.x + a.width * fx, a.y + a.height * fy)
  await page.mouse.down()
  await page.mouse.move(a.x + a.width * fx + 6, a.y + a.height * fy + 3)
  await page.mouse.move(b.x + b.width * tx, b.y + b.height * ty, { steps: 4 })
  await page.mouse.up()
  await Bun.sleep(AFTER_DRAG_MS)
}

/** The writes since the calendar was opened. */
export const writes = ({ grid }: Calendar) => grid.calls.filter((call) => call.startsWith('records.write'))

/** Expects so many writes. The server may have a request before the browser reports it here. */
export async function expectWrites(calendar: Calendar, count: number): Promise<void> {
  await eventually(
    async () => writes(calendar).length,
    (sent) => sent >= count,
  )
  expect(writes(calendar)).toHaveLength(count)
}
