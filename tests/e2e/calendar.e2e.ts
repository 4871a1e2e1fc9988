import { describe, expect, test } from 'bun:test'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { createMember } from '../support/factories.ts'
import { at, createFinger, drag, expectWrites, FIELDS, openCalendar, ROWS, writes } from './calendar-page.ts'
import { eventually, gridTests, untilDraggable } from './grid-page.ts'

const tests = gridTests()

describe('where a calendar opens', () => {
  test('is the period of the nearest record where today has none, and today where it has', async () => {
    const far: CellValue[][] = [
      ['Long ago', at(3, '09:00').replace('2026-01', '2019-05'), null, null],
      ['Last summer', at(9, '09:00').replace('2026-01', '2025-07'), null, null],
      ['Due in a year', null, null, '2027-02-03'],
    ]
    const { event, page } = await openCalendar(tests, far)
    await event('Last summer').waitFor()
    await page.getByTestId('calendar').getByText('July 2025').first().waitFor()
    expect(await page.getByTestId('calendar-empty').count()).toBe(0)

    const near = await openCalendar(tests, [...far, ['Now', at(20, '09:00'), null, null]])
    await near.event('Now').waitFor()
    expect(await near.event('Last summer').count()).toBe(0)
  })
})

describe('a month', () => {
  test('reads its own records and moves them by pointer and by key, one request and one undo each', async () => {
    const calendar = await openCalendar(tests)
    const { page, event, day, stored, id, grid } = calendar
    await event('Workshop').waitFor()
    expect(await event('February').count()).toBe(0)
    await day('2026-01-12').filter({ hasText: 'Conference' }).waitFor()
    // The records of the month, those of the list, and each once.
    expect(grid.calls.filter((call) => call.startsWith('records.count'))).toHaveLength(1)

    await drag(page, event('Workshop'), day('2026-01-17'))
    await day('2026-01-17').filter({ hasText: 'Workshop' }).waitFor()
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(17, '09:00'),
    )
    expect((await stored(1))[id('End')]).toBe(at(17, '10:30'))
    await expectWrites(calendar, 1)
    await calendar.said('Workshop: 2026-01-17')

    // Its end alone, by the edge.
    await drag(page, event('Conference').locator('[data-edge="end"]'), day('2026-01-16'), { to: [0.5, 0.8] })
    await eventually(
      () => stored(2),
      (values) => values[id('End')] === at(16, '17:00'),
    )
    expect((await stored(2))[id('Start')]).toBe(at(12, '08:00'))
    expect(await event('Invoice').locator('[data-edge]').count()).toBe(0)

    await event('Invoice').focus()
    await page.keyboard.press('ControlOrMeta+ArrowLeft')
    await eventually(
      () => stored(3),
      (values) => values[id('Due')] === '2026-01-19',
    )
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Invoice'))
    await page.keyboard.press('ControlOrMeta+z')
    await day('2026-01-20').filter({ hasText: 'Invoice' }).waitFor()
    await expectWrites(calendar, 3)
    await page.keyboard.press('Escape')
  })

  test('puts a refused record back and says why; Escape lets go of one', async () => {
    const calendar = await openCalendar(tests)
    const { page, event, day, stored, id, grid } = calendar
    await drag(page, event('Invoice'), day('2026-01-22'))
    await page.getByText('No changes saved').waitFor()
    grid.problems.length = 0 // The browser notes each refusal.
    await day('2026-01-20').filter({ hasText: 'Invoice' }).waitFor()
    const box = await event('Taxes').boundingBox()
    const target = await day('2026-01-29').boundingBox()
    if (!box || !target) throw new Error('nothing to drag')
    await page.mouse.move(box.x + 20, box.y + 5)
    await page.mouse.down()
    await page.mouse.move(target.x + 20, target.y + 40, { steps: 4 })
    await day('2026-01-29').filter({ hasText: 'Taxes' }).waitFor()
    await page.keyboard.press('Escape')
    await day('2026-01-22').filter({ hasText: 'Taxes' }).waitFor()
    await page.mouse.up()
    expect((await stored(4))[id('Due')]).toBe('2026-01-22')
    await expectWrites(calendar, 1)
    expect(page.url()).not.toContain('rowId')
  })

  test('is walked by keys, opens records with a way to the next, and shows what others do', async () => {
    const { page, event, day, api, table, id } = await openCalendar(tests)
    await event('Workshop').waitFor()
    await day('2026-01-14').focus()
    await page.keyboard.press('ArrowDown')
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Workshop'))
    await page.keyboard.press('Enter')
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('heading', { name: 'Workshop' }).waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await panel.getByRole('heading', { name: 'Conference' }).waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Conference'))

    await page.keyboard.press('PageDown')
    await page.getByRole('heading', { name: 'February 2026' }).waitFor()
    await event('February').waitFor()
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'January 2026' }).waitFor()
    // Where the page runs from right to left, so do the days.
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await day('2026-01-14').focus()
    await page.keyboard.press('ArrowLeft')
    await page.waitForFunction(() => (document.activeElement as HTMLElement).dataset.day === '2026-01-15')

    const values = { [id('Start')]: at(21, '12:00'), [id('End')]: null }
    const operations = [{ kind: 'update' as const, tableId: table.tableId, rows: [{ id: 6, values }] }]
    await api.records.write.mutate({ change: { baseId: table.baseId, operations } })
    await page.locator('[data-day="2026-01-21"]').filter({ hasText: 'February' }).waitFor()
  })

  test('counts what does not fit into a day, and lists it', async () => {
    const many = Array.from({ length: 12 }, (_, n): CellValue[] => [
      `Call ${n}`,
      at(14, `${9 + n}:00`),
      null,
      null,
    ])
    const { page, event } = await openCalendar(tests, many)
    const more = page.locator('[data-day="2026-01-14"] [data-more]')
    await more.waitFor()
    const shown = await event('Call').count()
    expect(await more.textContent()).toBe(`${12 - shown} more`)
    await more.click()
    const list = page.getByTestId('calendar-day-list')
    await list.waitFor()
    expect(await list.locator('li').count()).toBe(12)
    await list.getByRole('button', { name: 'Call 11' }).click()
    await page.getByTestId('record-panel').getByRole('heading', { name: 'Call 11' }).waitFor()
  })
})

describe('the hours of a week', () => {
  test('take records by the quarter, and new ones where one presses', async () => {
    const calendar = await openCalendar(tests, ROWS, { scale: 'week' })
    const { page, event, hours, stored, id } = calendar
    await event('Workshop').waitFor()
    await page.getByTestId('calendar-now').waitFor()
    const hour = 1 / 24
    // Taken in its middle at 9:45 and let go at 14:37, it begins a quarter before 14.
    await drag(page, event('Workshop'), hours('2026-01-15'), { to: [0.5, 14.6 * hour] })
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(15, '13:45'),
    )
    expect((await stored(1))[id('End')]).toBe(at(15, '15:15'))
    await drag(page, event('Workshop').locator('[data-edge="end"]'), hours('2026-01-15'), {
      to: [0.5, 16 * hour],
    })
    await eventually(
      () => stored(1),
      (values) => values[id('End')] === at(15, '16:00'),
    )
    await event('Workshop').focus()
    await page.keyboard.press('ControlOrMeta+ArrowUp')
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(15, '13:30'),
    )
    await expectWrites(calendar, 3)

    const column = await hours('2026-01-13').boundingBox()
    if (!column) throw new Error('no column')
    await page.mouse.click(column.x + 20, column.y + column.height * 10.7 * hour)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title', { exact: true }).fill('New one')
    await page.keyboard.press('ControlOrMeta+Enter')
    await event('New one').waitFor()
    await eventually(
      () => stored(7).catch(() => ({})),
      (values: Values) => values[id('Start')] === at(13, '10:30'),
    )
  })
})

describe('a drag', () => {
  const hour = 1 / 24

  test('over empty days or hours opens a new record with both dates', async () => {
    const { page, day, hours, stored, id } = await openCalendar(tests)
    const dialog = page.getByRole('dialog')
    const addRecord = async (title: string) => {
      await dialog.getByLabel('Title', { exact: true }).fill(title)
      await page.keyboard.press('ControlOrMeta+Enter')
      await dialog.waitFor({ state: 'detached' })
    }
    await drag(page, day('2026-01-08'), day('2026-01-06'), { from: [0.5, 0.8], to: [0.5, 0.8] })
    await addRecord('Trip')
    await eventually(
      () => stored(7).catch((): Values => ({})),
      (values) => values[id('Start')] === at(6, '09:00') && values[id('End')] === at(8, '10:00'),
    )
    await page.keyboard.press('w')
    await hours('2026-01-16').waitFor()
    await drag(page, hours('2026-01-16'), hours('2026-01-16'), {
      from: [0.5, 10 * hour],
      to: [0.5, 12.5 * hour],
    })
    await addRecord('Call')
    await eventually(
      () => stored(8).catch((): Values => ({})),
      (values) => values[id('Start')] === at(16, '10:00') && values[id('End')] === at(16, '12:30'),
    )
  })

  test('of the upper edge moves the start only, at most to a quarter before the end', async () => {
    const { page, event, hours, stored, id } = await openCalendar(tests, ROWS, { scale: 'week' })
    await page.getByTestId('calendar-now').waitFor()
    const edge = event('Workshop').locator('[data-edge="start"]')
    await drag(page, edge, hours('2026-01-14'), { to: [0.5, 9.8 * hour] })
    const first = await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(14, '09:45'),
    )
    expect(first[id('Start')]).toBe(at(14, '09:45'))
    await drag(page, edge, hours('2026-01-14'), { to: [0.5, 13 * hour] })
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(14, '10:15'),
    )
    expect(await stored(1)).toMatchObject({ [id('Start')]: at(14, '10:15'), [id('End')]: at(14, '10:30') })
  })

  test('that ends before its start has been drawn still moves the record, once', async () => {
    const calendar = await openCalendar(tests)
    const { page, event, day, stored, id } = calendar
    await drag(page, event('Workshop'), day('2026-01-15'))
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(15, '09:00'),
    )
    const from = await event('Workshop').boundingBox()
    const to = await day('2026-01-20').boundingBox()
    if (!from || !to) throw new Error('nothing to drag')
    await page.evaluate(
      async ([start, end]) => {
        const send = (Type: typeof MouseEvent, type: string, { x, y }: { x: number; y: number }) =>
          document
            .elementFromPoint(x, y)
            ?.dispatchEvent(new Type(type, { bubbles: true, cancelable: true, clientX: x, clientY: y }))
        send(MouseEvent, 'mousedown', start)
        await new Promise((resolve) => setTimeout(resolve))
        send(MouseEvent, 'mousemove', { x: start.x + 9, y: start.y })
        send(MouseEvent, 'mousemove', end)
        send(PointerEvent, 'pointerup', end)
        send(MouseEvent, 'mouseup', end)
      },
      [from, to].map((box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 })) as [
        { x: number; y: number },
        { x: number; y: number },
      ],
    )
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(20, '09:00'),
    )
    expect((await stored(1))[id('Start')]).toBe(at(20, '09:00'))
    await expectWrites(calendar, 2)
    await page.locator('[data-dragging]').waitFor({ state: 'detached' })
  })

  test('scrolls the hours at their edge', async () => {
    const { page, event, stored, id } = await openCalendar(tests, ROWS, { scale: 'week' })
    const scroller = page.locator('[data-scroller]')
    const box = await scroller.boundingBox()
    const from = await event('Workshop').boundingBox()
    if (!box || !from) throw new Error('nothing to drag')
    const x = from.x + from.width / 2
    await page.mouse.move(x, from.y + from.height / 2)
    await untilDraggable(page)
    await page.mouse.down()
    await page.mouse.move(x, from.y + from.height / 2 + 20, { steps: 3 })
    await page.mouse.move(x, box.y + box.height - 8, { steps: 5 })
    await eventually(
      () => scroller.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop),
      (left) => left < 2,
    )
    await page.mouse.up()
    await eventually(
      () => stored(1),
      (values) => String(values[id('Start')]) > at(14, '22:00'),
    )
  })

  test('that Escape cancels does not open the record on release, nor close the open one', async () => {
    const calendar = await openCalendar(tests)
    const { page, event, day } = calendar
    await event('Taxes').click()
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('heading', { name: 'Taxes' }).waitFor()
    const box = await event('Workshop').boundingBox()
    if (!box) throw new Error('nothing to drag')
    await page.mouse.move(box.x + 20, box.y + 8)
    await untilDraggable(page)
    await page.mouse.down()
    const below = await day('2026-01-21').boundingBox()
    if (!below) throw new Error('no day')
    await page.mouse.move(below.x + 30, below.y + 60, { steps: 4 })
    await page.locator('[data-dragging]').waitFor()
    await page.mouse.move(box.x + 22, box.y + 8, { steps: 4 })
    await page.keyboard.press('Escape')
    await page.locator('[data-dragging]').waitFor({ state: 'detached' })
    // Longer than dnd-kit itself suppresses clicks.
    await page.waitForTimeout(100)
    await page.mouse.up()
    await panel.getByRole('heading', { name: 'Taxes' }).waitFor()
    expect(await panel.getByRole('heading', { name: 'Workshop' }).count()).toBe(0)
    expect(writes(calendar)).toEqual([])
  })

  test('starts with the first press even where dnd-kit has yet to load', async () => {
    const { page, event, day } = await openCalendar(tests)
    const box = await event('Workshop').boundingBox()
    const target = await day('2026-01-22').boundingBox()
    if (!box || !target) throw new Error('nothing to drag')
    const loaded: string[] = []
    await page.route('**/*.js', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      loaded.push(route.request().url())
      await route.continue()
    })
    await page.mouse.move(box.x + 20, box.y + 8)
    await page.mouse.down()
    await eventually(
      async () => loaded.length,
      (count) => count > 0,
    )
    // Moves as a hand does: again and again until the calendar follows.
    await eventually(
      async () => {
        await page.mouse.move(target.x + 20, target.y + 50, { steps: 3 })
        await page.mouse.move(target.x + 24, target.y + 50)
        return day('2026-01-22').filter({ hasText: 'Workshop' }).count()
      },
      (count) => count === 1,
    )
    await page.mouse.up()
    await page.unroute('**/*.js')
    expect(loaded.length).toBeGreaterThan(0)
  })

  test('starts with a finger that rests; one that moves at once scrolls', async () => {
    const calendar = await openCalendar(tests, ROWS, {
      scale: 'week',
      browser: { viewport: { width: 800, height: 700 }, hasTouch: true },
    })
    const { page, event, hours, stored, id } = calendar
    // dnd-kit loads before the first touch.
    await untilDraggable(page)
    const finger = await createFinger(page)
    const box = await event('Workshop').boundingBox()
    const target = await hours('2026-01-15').boundingBox()
    if (!box || !target) throw new Error('nothing to drag')
    const [x, y] = [box.x + box.width / 2, box.y + 20]
    // Sent at once: a finger that moved only after an answer would rest on a busy machine.
    await Promise.all([finger.down(x, y), finger.move(x, y - 30), finger.move(x, y - 60), finger.up()])
    expect(await page.locator('[data-dragging]').count()).toBe(0)

    // The hours glide on for a moment.
    const topOf = async () => (await event('Workshop').boundingBox())?.y
    let last = await topOf()
    await eventually(
      async () => {
        const before = last
        await Bun.sleep(100)
        last = await topOf()
        return last === before
      },
      (isStill) => isStill,
    )
    await event('Workshop').evaluate((element) => element.scrollIntoView({ block: 'center' }))
    const now = await event('Workshop').boundingBox()
    if (!now) throw new Error('nothing to drag')
    await finger.down(now.x + now.width / 2, now.y + 20)
    await page.locator('[data-dragging="move"]').waitFor()
    await finger.move(now.x + now.width / 2, now.y + 30)
    await finger.move(target.x + target.width / 2, now.y + 20)
    await hours('2026-01-15').filter({ hasText: 'Workshop' }).waitFor()
    await finger.up()
    await eventually(
      () => stored(1),
      (values) => values[id('Start')] === at(15, '09:00'),
    )
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    await expectWrites(calendar, 1)
  })
})

describe('the list beside the calendar', () => {
  test('is there from the beginning, searched, and its records are dragged onto days', async () => {
    const calendar = await openCalendar(tests)
    const { page, day, line, stored, id } = calendar
    await line('Someday').waitFor()
    expect(await page.getByTestId('calendar-list-count').textContent()).toBe('6 records')
    await page.getByLabel('Which records').selectOption('undated')
    await page.getByTestId('calendar-list-count').filter({ hasText: '1 record' }).waitFor()
    await drag(page, line('Someday'), day('2026-01-08'))
    await day('2026-01-08').filter({ hasText: 'Someday' }).waitFor()
    await eventually(
      () => stored(5),
      (values) => values[id('Start')] === at(8, '09:00'),
    )
    await page.getByText('All records have a date').waitFor()
    await expectWrites(calendar, 1)
    await page.getByLabel('Which records').selectOption('all')
    await page.getByLabel('Search this list').fill('tax')
    await page
      .getByTestId('calendar-list-count')
      .filter({ hasText: /^1 record$/ })
      .waitFor()
    await line('Taxes').hover()
    await page.locator('[data-highlighted]').waitFor()
    await line('Taxes').click()
    await page.getByTestId('record-panel').getByRole('heading', { name: 'Taxes' }).waitFor()
  })
})

describe('the dates of a calendar', () => {
  test('follow a change by others that comes before the answer to one’s own', async () => {
    const { page, event, day, view, api, table } = await openCalendar(tests)
    await event('Invoice').waitFor()
    const slowDown = (path: string, ms: number) =>
      page.route(path, async (route) => {
        const response = await route.fetch()
        await Bun.sleep(ms)
        await route.fulfill({ response })
      })
    await slowDown('**/trpc/views.update*', 600)
    await slowDown('**/trpc/schema.table*', 1200)
    await page.getByTestId('calendar-dates').click()
    await page.getByLabel('Show weekends').uncheck()
    await day('2026-01-17').waitFor({ state: 'detached' })
    await eventually(
      async () => (await api.schema.table.query({ tableId: table.tableId })).views,
      (views) => JSON.stringify(views.find(({ id }) => id === view.id)).includes('"hideWeekends":true'),
    )
    await api.views.update.mutate({ viewId: view.id, patch: { options: { ranges: [] } } })
    await page.getByText('Choose a date field').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('are chosen and saved, weekends hidden, and asked for where there are none', async () => {
    const { page, event, day, view, api, table } = await openCalendar(tests)
    await event('Invoice').waitFor()
    await page.getByTestId('calendar-dates').click()
    await page.getByLabel('Show weekends').uncheck()
    await day('2026-01-17').waitFor({ state: 'detached' })
    await page.getByTestId('calendar-range').nth(1).getByRole('button', { name: 'Remove date field' }).click()
    await event('Invoice').waitFor({ state: 'detached' })
    const saved = async () =>
      (await api.schema.table.query({ tableId: table.tableId })).views.find(({ id }) => id === view.id)
        ?.options
    await eventually(saved, (options) => JSON.stringify(options).includes('"hideWeekends":true'))
    expect(await saved()).toMatchObject({ hideWeekends: true, ranges: [{}] })

    await api.views.update.mutate({ viewId: view.id, patch: { options: { ranges: [] } } })
    await page.getByText('Choose a date field').waitFor()
    await page.getByRole('button', { name: 'Due' }).click()
    await event('Invoice').waitFor()
  })

  test('are looked at alone by a viewer, who is told why', async () => {
    const [title, ...dates] = FIELDS
    const priced = [title, { title: 'Price', type: 'Currency' as const }, ...dates].filter((field) => !!field)
    const rows = ROWS.map(([name = null, ...days]) => [name, 1200.5, ...days])
    const table = await tests.createTable(priced, rows)
    const user = await createMember(tests.app(), table.baseId, 'viewer')
    const calendar = await openCalendar(tests, ROWS, { table, user })
    const { page, event, day } = calendar
    // What else the view shows is written as its cells are.
    await event('Workshop').getByText('$1,200.50').waitFor({ state: 'attached' })
    await drag(page, event('Workshop'), day('2026-01-17'))
    await day('2026-01-14').filter({ hasText: 'Workshop' }).waitFor()
    await day('2026-01-28').click()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await event('Workshop').getAttribute('data-tip')).toContain('Your role can’t edit records.')
    // What is true of all is not marked on each.
    expect(await page.locator('[data-fixed]').count()).toBe(0)
    // A key that cannot move a record does not go where it would be.
    await page.keyboard.press('d')
    const today = page.getByRole('heading', { name: 'Wednesday, January 14, 2026' })
    await today.waitFor()
    await event('Workshop').focus()
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    await calendar.said('Your role can’t edit records.')
    expect(await today.count()).toBe(1)
    await page.keyboard.press('y')
    await page.getByTestId('calendar-year').waitFor()
    await page.locator('[data-day="2026-02-14"][data-level]').click()
    await page.getByRole('heading', { name: 'Saturday, February 14, 2026' }).waitFor()
    await event('February').waitFor()
    expect(writes(calendar)).toEqual([])

    // A link to a record opens the calendar on its day.
    const { baseId, tableId } = table
    await page.goto(`${tests.app().url}/?again#/nc/${baseId}/${tableId}/${calendar.view.id}?rowId=6`)
    await page.getByRole('heading', { name: 'February 2026' }).waitFor()
    await page.getByTestId('record-panel').getByRole('heading', { name: 'February' }).waitFor()
  })
})
