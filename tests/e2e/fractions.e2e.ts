import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createForeign, type ForeignDatabase, jobEnd } from '../sources/support.ts'
import { createBase } from '../support/factories.ts'
import { eventually, gridTests } from './grid-page.ts'

const { app, owner, openTable } = gridTests()

let foreign: ForeignDatabase
beforeAll(async () => {
  foreign = await createForeign('mariadb', [
    'create table moment (id int primary key, at datetime(6), hour time(6), coarse time)',
    `insert into moment values (1, '2024-01-02 03:04:05.123456', '12:34:56.789012', '01:02:03'),
      (2, null, null, null)`,
  ])
})
afterAll(() => foreign.stop())

const stored = async (id: number) => {
  const [row] = await foreign.ask<Record<string, string | null>>(
    `select cast(at as char) as at, cast(hour as char) as hour, cast(coarse as char) as coarse from moment where id = ${id}`,
  )
  return row
}

test('microseconds of a connected database survive the grid, the clipboard and the expanded record', async () => {
  const api = app().trpc(owner().token)
  const base = await createBase(app(), owner())
  const { id: job } = await api.sources.create.mutate({ baseId: base.id, ...foreign.sent })
  expect((await jobEnd({ app: app() }, job)).status).toBe('completed')
  const [table] = await api.schema.tables.query({ baseId: base.id })
  const schema = await api.schema.table.query({ tableId: table?.id ?? '' })
  const grid = await openTable({ schema, baseId: base.id, tableId: schema.table.id }, owner(), {
    timezoneId: 'Asia/Kathmandu',
  })
  const { page, cell } = grid
  const before = await stored(1)
  const stays = async (row: Record<string, string | null> | undefined, id = 1) => {
    await grid.saved()
    expect(
      await eventually(
        () => stored(id),
        (now) => Bun.deepEquals(now, row),
      ),
    ).toEqual(row)
  }

  await grid.shows('hour', ['12:34:56.789012', ''])

  // An editor that is opened and left writes nothing.
  for (const title of ['hour', 'at']) {
    await cell(0, title).dblclick()
    await page.keyboard.press('Enter')
  }
  await grid.saved()
  expect([await stored(1), grid.writes()]).toEqual([before, []])

  for (const title of ['at', 'hour']) {
    await cell(0, title).click()
    await page.keyboard.press('ControlOrMeta+c')
    await cell(1, title).click()
    await page.keyboard.press('ControlOrMeta+v')
  }
  await stays({ at: before?.at ?? '', hour: before?.hour ?? '', coarse: null }, 2)

  await cell(1, 'hour').click()
  await grid.paste('07:08:09.000001')
  await cell(1, 'at').click()
  await grid.paste('2030-05-06 07:08:09.000001+00:00')
  await stays({ at: '2030-05-06 07:08:09.000001', hour: '07:08:09.000001', coarse: null }, 2)

  await cell(1, 'hour').click()
  await page.keyboard.type('10:11:12.000013')
  await page.keyboard.press('Enter')
  await stays({ at: '2030-05-06 07:08:09.000001', hour: '10:11:12.000013', coarse: null }, 2)

  // A column of whole seconds refuses a fraction with a reason, and the cell shows its old value again.
  await cell(0, 'coarse').click()
  await page.keyboard.type('23:59:59.9')
  await page.keyboard.press('Enter')
  await cell(0, 'coarse').click()
  await page.getByText('coarse: The column (time) keeps whole seconds only').waitFor()
  expect(await stored(1)).toEqual(before)
  grid.problems.splice(0) // The console names the refused request.
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await grid.shows('coarse', ['01:02:03'])

  await cell(0, 'hour').hover()
  await page.getByRole('button', { name: 'Open record 1', exact: true }).click()
  await page.getByTestId('record-panel').waitFor()
  for (const title of ['at', 'hour']) {
    const { id } = schema.fields.find((field) => field.title === title)!
    const field = page.locator(`[data-testid="record-field"][data-field="${id}"]`)
    await field.getByRole('button').or(field.locator('input')).first().click()
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Escape')
  await grid.saved()
  expect(await stored(1)).toEqual(before)
})
