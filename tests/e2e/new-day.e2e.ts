import { expect, test } from 'bun:test'
import { addDays, dayIn, startOfDay } from '../../src/core/dates.ts'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

const ZONE = 'Pacific/Kiritimati'

test('at midnight, what depends on today is drawn and read again', async () => {
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
      prepare: (page) => page.clock.install({ time: startOfDay(today, ZONE) - 300_000 }),
    },
  )
  const { page } = grid
  await grid.shows('Title', ['before', 'after'])
  const colored = () =>
    page
      .locator('[data-testid="row"][data-color]')
      .evaluateAll((rows) => rows.map((row) => row.dataset.index))
  expect(await colored()).toEqual(['0'])

  grid.calls.length = 0
  await page.clock.fastForward('05:01')
  await eventually(colored, (now) => Bun.deepEquals(now, ['1']))
  await eventually(
    async () => grid.calls,
    (calls) => calls.includes('records.list'),
  )
})
