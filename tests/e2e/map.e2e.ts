import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { png } from '../records/attachments-support.ts'
import { createMember } from '../support/factories.ts'
import { eventually, gridTests, textOf } from './grid-page.ts'

// A container has no graphics card: Chromium draws WebGL by itself then, where it is told to.
const browserArgs = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
/** Only ends hanging tests: without a graphics card the first picture takes long. */
const MAP_WAIT_MS = 60_000
const tests = gridTests({ browserArgs })

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Place', type: 'GeoData' as const },
  { title: 'Notes', type: 'LongText' as const },
]

const PLACES: CellValue[][] = [
  ['Paris', '48.8584;2.2945', 'a tower'],
  ['Versailles', '48.8049;2.1204', null],
  ['Tokyo', '35.68;139.69', null],
  ['Lost', null, null],
]

async function openMap(rows: CellValue[][], fields = FIELDS) {
  const table = await tests.createTable(fields, rows)
  const api = tests.app().trpc(tests.owner().token)
  const view = await api.views.create.mutate({ tableId: table.tableId, title: 'Map', kind: 'map' })
  return { ...(await show(table, view.id)), api, view }
}

async function show(
  table: Awaited<ReturnType<typeof tests.createTable>>,
  viewId: string,
  user = tests.owner(),
) {
  const grid = await tests.openTable(table, user, {}, { viewId })
  const { page } = grid
  await page
    .locator('[data-testid="map"][data-ready]')
    .or(page.getByText('no location field'))
    .waitFor({ timeout: MAP_WAIT_MS })
  const pin = (title: string) => page.locator(`[data-testid="map-pin"][aria-label="${title}"]`)
  const line = (title: string) =>
    page.getByTestId('place-list').getByRole('button', { name: title, exact: true })
  const fieldId = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? ''
  const stored = async (id: number) => {
    const { values } = await tests
      .app()
      .trpc(tests.owner().token)
      .records.get.query({ tableId: table.tableId, recordId: id })
    return values[fieldId('Place')] ?? null
  }
  /** The browser's word of a request may come after the server has answered it. */
  const untilWritten = async (times: number) => {
    const writes = async () => grid.writes()
    expect(await eventually(writes, (now) => now.length >= times)).toEqual(Array(times).fill('records.write'))
  }
  grid.calls.length = 0
  return { ...grid, untilWritten, table, pin, line, fieldId, stored }
}

describe('a map', () => {
  test('names the person who has a record open, at its pin or its cluster', async () => {
    const { page, pin, table, view, problems } = await openMap(PLACES)
    await pin('Tokyo').waitFor()
    const member = await createMember(tests.app(), table.baseId, 'editor')
    const theirs = await show(table, view.id, member)
    await theirs.line('Tokyo').click()
    await theirs.page.getByTestId('map-card').getByRole('button', { name: 'Open' }).click()
    await pin(`Tokyo, ${member.email} is here`).waitFor()
    expect(await textOf(page.getByTestId('record-mark'))).toBe(member.email)
    if (process.env.MAP_SHOTS) await page.screenshot({ path: `${process.env.MAP_SHOTS}/map-person.png` })
    await theirs.page.keyboard.press('Escape')
    await pin('Tokyo').waitFor()
    await theirs.close()
    expect(problems).toEqual([])
  })

  test('fits its pins, gathers what stands close, and shows the record of a pin', async () => {
    const { page, pin, line } = await openMap(PLACES)
    await pin('Tokyo').waitFor()
    const cluster = page.getByTestId('map-cluster')
    expect(await textOf(cluster)).toBe('2')
    // The names of the countries come with the outlines, from this server.
    await page.getByText('Russia', { exact: true }).waitFor()
    await cluster.click()
    await pin('Paris').click()
    const card = page.getByTestId('map-card')
    await card.getByText('a tower').waitFor()
    await card.getByRole('button', { name: 'Open' }).click()
    await page.getByTestId('record-panel').getByRole('heading', { name: 'Paris' }).waitFor()
    await page.keyboard.press('Escape')
    // By keyboard one goes through the list.
    await line('Tokyo').focus()
    await page.keyboard.press('Enter')
    await card.getByText('Tokyo').waitFor()
    await page.getByRole('tab', { name: 'No location 1' }).click()
    await line('Lost').waitFor()
  })

  test('moves a record by dragging its pin, gives one a place, and adds one by a click', async () => {
    const { page, pin, stored, untilWritten, calls } = await openMap([
      ['Paris', '48.8584;2.2945', null],
      ['Lost', null, null],
    ])
    const box = await pin('Paris').boundingBox()
    if (!box) throw new Error('the pin is not there')
    await page.mouse.move(box.x + 15, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + 115, box.y + 90, { steps: 5 })
    await page.mouse.up()
    const moved = await eventually(
      () => stored(1),
      (now) => now !== '48.8584;2.2945',
    )
    const [lat, long] = String(moved).split(';').map(Number)
    expect(lat).toBeLessThan(48.85)
    expect(long).toBeGreaterThan(2.3)
    await untilWritten(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await eventually(
      () => stored(1),
      (now) => now === '48.8584;2.2945',
    )
    const back = () => pin('Paris').boundingBox()
    expect((await eventually(back, (now) => now?.x === box.x))?.x).toBe(box.x)

    await page.getByRole('tab', { name: 'No location' }).click()
    await page.getByRole('button', { name: 'Place on the map' }).click()
    const middle = { x: 200, y: 200 }
    await page.getByTestId('map').click({ position: middle })
    // The pin is drawn before the server has answered.
    await pin('Lost').waitFor()
    const given = await eventually(
      () => stored(2),
      (now) => now !== null,
    )
    expect(String(given)).toContain(';')

    calls.length = 0
    await page.getByTestId('map').click({ position: { x: 420, y: 500 } })
    await page.getByTestId('add-here').click()
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title', { exact: true }).fill('Fresh')
    await dialog.getByTestId('create-record').click()
    await pin('Fresh').waitFor()
    expect(String(await stored(3))).toMatch(/^-?[\d.]+;-?[\d.]+$/)
    await untilWritten(1)
  })

  test('shows a move while the network is slow, and takes a refused one back with its reason', async () => {
    const { page, pin, line, stored, untilWritten, problems } = await openMap(PLACES)
    const place = async (title: string, position: { x: number; y: number }) => {
      await line(title).click()
      await page.getByTestId('map-card').getByRole('button', { name: 'Move' }).click()
      await page.getByTestId('map').click({ position })
    }
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/trpc/records.write*', async (route) => {
      await answered
      await route.continue()
    })
    await pin('Tokyo').waitFor()
    await page.getByRole('tab', { name: 'No location 1' }).click()
    await page.getByRole('button', { name: 'Place on the map' }).click()
    await page.getByTestId('map').click({ position: { x: 200, y: 200 } })
    await pin('Lost').waitFor()
    await page.getByRole('tab', { name: 'On the map 4' }).waitFor()
    await page.getByRole('tab', { name: 'No location 0' }).waitFor()
    expect(await stored(4)).toBeNull()
    answer()
    await untilWritten(1)
    expect(
      await eventually(
        () => stored(4),
        (now) => now !== null,
      ),
    ).toContain(';')

    await page.unroute('**/trpc/records.write*')
    await page.route('**/trpc/records.write*', (route) =>
      route.fulfill({
        status: 422,
        json: {
          error: {
            message: 'The month is closed',
            code: -32_000,
            data: { code: 'UNPROCESSABLE_CONTENT', httpStatus: 422, appCode: 'BAD_REQUEST', details: null },
          },
        },
      }),
    )
    await page.getByRole('tab', { name: 'On the map 4' }).click()
    await place('Tokyo', { x: 120, y: 320 })
    await page.getByText('No changes saved. The month is closed').waitFor()
    expect(await stored(3)).toBe('35.68;139.69')
    await line('Tokyo').click()
    // The map is centred on the stored location again, so the pin stands in its middle.
    const offset = async () => {
      const [box, map] = [await pin('Tokyo').boundingBox(), await page.getByTestId('map').boundingBox()]
      return box && map ? Math.abs(box.x + box.width / 2 - map.x - map.width / 2) : Number.NaN
    }
    expect(await eventually(offset, (now) => now < 3)).toBeLessThan(3)
    await eventually(
      async () => problems.length,
      (count) => count > 0,
    )
    problems.length = 0
  })

  test('reads many records by pages and draws a few, and filters and searches them', async () => {
    const rows = Array.from({ length: 2500 }, (_, at): CellValue[] => [
      `r${at}`,
      `${(60 * Math.sin(at)).toFixed(4)};${(170 * Math.sin(at * 78.233)).toFixed(4)}`,
      null,
    ])
    const { page, line, calls } = await openMap(rows)
    await page.getByRole('tab', { name: 'On the map 2,500' }).waitFor()
    const pins = page.locator('[data-testid="map-pin"], [data-testid="map-cluster"]')
    expect(await pins.count()).toBeLessThan(300)
    await page.getByRole('searchbox', { name: 'Find a record' }).fill('r2499')
    await line('r2499').waitFor()
    const reads = () => calls.filter((call) => call === 'records.list').length
    // The browser's word of a request may come after its answer.
    for (let known = -1; known < calls.length; ) {
      known = calls.length
      await Bun.sleep(1000)
    }
    calls.length = 0
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-input').fill('r1234')
    await page.getByRole('tab', { name: 'On the map 1', exact: true }).waitFor()
    expect(reads()).toBeLessThan(4)
  })

  test('reads no more of a table without places than it lists', async () => {
    const { page, calls } = await openMap(
      Array.from({ length: 2500 }, (_, at): CellValue[] => [`r${at}`, null, null]),
    )
    await page.getByRole('tab', { name: 'On the map 0' }).waitFor()
    await page.getByRole('tab', { name: 'No location 2,500' }).click()
    await page.getByText('200 of 2,500 records are listed.').waitFor()
    expect(calls.filter((call) => call === 'records.list').length).toBeLessThan(5)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('400 of 2,500 records are listed.').waitFor()
  })

  test('asks for a field of places where there is none, and lets a viewer look', async () => {
    const { page, table, view } = await openMap([['a']], FIELDS.slice(0, 1))
    await page.getByRole('button', { name: 'Add location field' }).click()
    await page.getByTestId('field-editor').getByRole('button', { name: 'Add field' }).click()
    await page.locator('[data-testid="map"][data-ready]').waitFor({ timeout: MAP_WAIT_MS })
    await page.getByRole('tab', { name: 'No location 1' }).waitFor()
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const other = await show(table, view.id, viewer)
    await other.page.getByRole('tab', { name: 'No location 1' }).click()
    await other.line('a').waitFor()
    expect(await other.page.getByRole('button', { name: 'Place on the map' }).count()).toBe(0)
    await other.page.getByTestId('map').click({ position: { x: 200, y: 200 } })
    expect(await other.page.getByTestId('add-here').count()).toBe(0)
  })
})

describe('a map with the pictures of a tile server', () => {
  const asked: string[] = []
  const tiles = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(`${new URL(request.url).pathname} from ${request.headers.get('referer')}`)
      const headers = { 'content-type': 'image/png', 'access-control-allow-origin': '*' }
      return new Response(new Blob([png(256, 256) as BlobPart]), { headers })
    },
  })
  const own = gridTests({
    browserArgs,
    config: {
      mapTilesUrl: `http://127.0.0.1:${tiles.port}/{z}/{x}/{y}.png`,
      mapTilesAttribution: '© The makers of maps',
    },
  })
  beforeAll(() => {
    asked.length = 0
  })
  afterAll(() => tiles.stop(true))

  test('loads them from that host alone, and says whose they are', async () => {
    const table = await own.createTable(FIELDS, PLACES)
    const api = own.app().trpc(own.owner().token)
    const view = await api.views.create.mutate({ tableId: table.tableId, title: 'Map', kind: 'map' })
    const { page } = await own.openTable(table)
    await page.goto(`${own.app().url}/#/nc/${table.baseId}/${table.tableId}/${view.id}`)
    await page.getByText('© The makers of maps').waitFor()
    await eventually(
      async () => asked.length,
      (count) => count > 0,
    )
    expect(asked[0]).toMatch(/^\/\d+\/\d+\/\d+\.png from http:\/\/127\.0\.0\.1:\d+\/$/)
    const policy = (await fetch(`${own.app().url}/dashboard`)).headers.get('content-security-policy')
    expect(policy).toContain(`img-src 'self' data: blob: http://127.0.0.1:${tiles.port};`)
  })
})
