import { expect, test } from 'bun:test'
import { addDays, dayIn, startOfDay } from '../../src/core/dates.ts'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

const ZONE = 'Pacific/Kiritimati'

/** A grid that opens five minutes before midnight: the second of its records is due afterwards, and coloured then. */
async function openBeforeMidnight() {
  const today = dayIn(Date.now(), ZONE)
  const fields = [
    { title: 'Title', type: 'SingleLineText' as const },
    { title: 'Due', type: 'Date' as const },
  ]
  const rows = [
    ['before', addDays(today, -1)],
    ['after', today],
  ]
  const table = await tests.createTable(fields, rows)
  const [view] = table.schema.views
  const due = table.schema.fields.find(({ title }) => title === 'Due')?.id ?? ''
  const isToday = { fieldId: due, operator: 'eq', operand: 'today' as const, value: null }
  const rule = { color: '#ff0000', isBackground: true, filter: isToday }
  const viewId = view?.id ?? ''
  await tests
    .app()
    .trpc(tests.owner().token)
    .views.update.mutate({ viewId, patch: { coloring: { mode: 'filter', rules: [rule] } } })
  const grid = await tests.openTable(
    table,
    tests.owner(),
    { timezoneId: ZONE },
    {
      viewId,
      async prepare(page) {
        // Without live updates: with the clock put on, their connection times out, and the next one reads again.
        await page.routeWebSocket(/socket\.io/, () => {})
        await page.clock.install({ time: startOfDay(today, ZONE) - 300_000 })
      },
    },
  )
  await grid.shows('Title', ['before', 'after'])
  const colored = () =>
    grid.page
      .locator('[data-testid="row"][data-color]')
      .evaluateAll((rows) => rows.map((row) => row.dataset.index))
  expect(await colored()).toEqual(['0'])
  grid.calls.length = 0
  return { grid, page: grid.page, colored }
}

test('at midnight, what depends on today is drawn and read again', async () => {
  const { grid, page, colored } = await openBeforeMidnight()
  await page.clock.fastForward('05:01')
  await eventually(colored, (now) => Bun.deepEquals(now, ['1']))
  await eventually(
    async () => grid.calls,
    (calls) => calls.includes('records.list'),
  )
})

test('a hidden page reads again once it is shown', async () => {
  const { grid, page, colored } = await openBeforeMidnight()
  const setHidden = (isHidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
  await setHidden(true)
  await page.clock.fastForward('05:01')
  await page.clock.runFor(10_000)
  // After the requests of these timers.
  await page.evaluate(() => fetch('/api/v1/ready').then(() => {}))
  expect(grid.calls).not.toContain('records.list')
  await setHidden(false)
  await eventually(colored, (now) => Bun.deepEquals(now, ['1']))
  await page.clock.runFor(10_000)
  await eventually(
    async () => grid.calls,
    (calls) => calls.includes('records.list'),
  )
})
