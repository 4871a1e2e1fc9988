import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { formTests } from './form-world.ts'
import { eventually, gridTests } from './grid-page.ts'

/** Scripts of the map's library that the page has loaded. */
const mapScripts = (page: Page): Promise<number> =>
  page.evaluate(
    () => performance.getEntriesByType('resource').filter(({ name }) => /\/maplibre.*js/.test(name)).length,
  )

// A container has no graphics card: Chromium draws WebGL by itself then, where it is told to.
const browserArgs = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
/** Only ends hanging tests: without a graphics card the first picture takes long. */
const MAP_WAIT_MS = 60_000
const grids = gridTests({ browserArgs })
const forms = formTests({ browserArgs })

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Place', type: 'GeoData' as const },
]

/** The dialog with the map, once it is drawn. */
async function untilMap(page: Page, title = 'Place') {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.locator('[data-testid="map"][data-ready]').waitFor({ timeout: MAP_WAIT_MS })
  const place = async () => (await dialog.getByTestId('picked-place').textContent()) ?? ''
  const pinAt = async () => {
    const box = await dialog.getByTestId('picked-pin').boundingBox()
    return { x: Math.round((box?.x ?? 0) + (box?.width ?? 0) / 2), y: Math.round(box?.y ?? 0) }
  }
  return { dialog, place, pinAt }
}

const focusedLabel = (page: Page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
  )
const isFocused = (page: Page, wanted: string) =>
  eventually(
    () => focusedLabel(page),
    (label) => label === wanted,
  )

/** Opens the cell's editor by keyboard, and the map from its last button. */
async function openByKeys(rows: CellValue[][]) {
  const table = await grids.createTable(FIELDS, rows)
  // The map jumps then, so that a key never meets a map that still moves.
  const grid = await grids.openTable(table, undefined, { reducedMotion: 'reduce' })
  const { page } = grid
  await grid.cell(0, 'Place').click()
  await page.keyboard.press('Enter')
  expect(await isFocused(page, 'Place: Latitude')).toBe('Place: Latitude')
  for (const _ of ['Longitude', 'Use my location', 'Pick on map']) await page.keyboard.press('Tab')
  expect(await isFocused(page, 'Pick on map')).toBe('Pick on map')
  await page.keyboard.press('Enter')
  return { grid, page, ...(await untilMap(page)) }
}

describe('picking a place on a map', () => {
  test('is left by Escape with nothing chosen, and the focus back where it was', async () => {
    const { grid, page, dialog, place } = await openByKeys([['Paris', '48.8584;2.2945']])
    expect(await place()).toBe('48.8584; 2.2945')
    await page.keyboard.press('ArrowRight')
    expect(await place()).not.toBe('48.8584; 2.2945')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await isFocused(page, 'Pick on map')).toBe('Pick on map')
    expect(await page.getByLabel('Place: Latitude').inputValue()).toBe('48.8584')
    await page.keyboard.press('Escape')
    await page.getByTestId('cell-editor').waitFor({ state: 'detached' })
    expect(grid.writes()).toEqual([])
  })

  test('goes by the keyboard alone: arrows move the pin, plus and minus zoom, Enter takes it', async () => {
    const { grid, page, dialog, place, pinAt } = await openByKeys([['Nowhere', null]])
    expect(await place()).toBe('')
    expect(await dialog.getByRole('button', { name: 'Use this location' }).isDisabled()).toBe(true)
    await page.keyboard.press('ArrowRight')
    const first = await pinAt()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+ArrowLeft')
    expect(await pinAt()).toEqual({ x: first.x - 64, y: first.y + 8 })
    // Zooming leaves the pin where it stands, and a step is then a shorter way.
    const [lat, long] = (await place()).split('; ').map(Number)
    await page.keyboard.press('+')
    await page.keyboard.press('+')
    await eventually(pinAt, ({ x }) => x === first.x - 64)
    await page.keyboard.press('ArrowUp')
    const [near = 0, same] = (await place()).split('; ').map(Number)
    expect(same).toBeCloseTo(long ?? 0, 3)
    expect(near - (lat ?? 0)).toBeGreaterThan(0)
    expect(near - (lat ?? 0)).toBeLessThan(2)
    const shown = await place()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await isFocused(page, 'Place: Latitude')).toBe('Place: Latitude')
    await page.keyboard.press('Enter')
    await grid.saved()
    await grid.shows('Place', [shown])
  })

  test('goes by a click, in the cell and in the open record', async () => {
    const grid = await grids.open(FIELDS, [['Paris', null]])
    const { page } = grid
    await grid.cell(0, 'Place').dblclick()
    await page.getByTestId('pick-on-map').click()
    const { dialog, place } = await untilMap(page)
    await dialog.getByTestId('map').click({ position: { x: 300, y: 200 } })
    await dialog.getByTestId('picked-pin').waitFor()
    const shown = await place()
    await dialog.getByRole('button', { name: 'Use this location' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await grid.saved()
    await grid.shows('Place', [shown])

    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.getByTestId('pick-on-map').click()
    const again = await untilMap(page)
    expect(await again.place()).toBe(shown)
    await again.dialog.getByTestId('map').click({ position: { x: 200, y: 150 } })
    await eventually(again.place, (now) => now !== shown)
    const other = await again.place()
    await again.dialog.getByRole('button', { name: 'Use this location' }).click()
    expect(await panel.getByLabel('Place: Latitude').inputValue()).toBe(other.split('; ')[0] ?? '')
    const cell = async () => (await grid.column('Place', 1))[0] ?? ''
    expect(await eventually(cell, (now) => now === other)).toBe(other)
  })

  test('works in a public form, which loads the map only then', async () => {
    const world = await forms.create(FIELDS)
    const page = await forms.visit(world)
    await page.getByTestId('pick-on-map').waitFor()
    expect(await mapScripts(page)).toBe(0)
    await page.getByTestId('pick-on-map').click()
    const { dialog, place } = await untilMap(page)
    expect(await mapScripts(page)).toBeGreaterThan(0)
    await dialog.getByTestId('map').click({ position: { x: 300, y: 200 } })
    await eventually(place, (now) => now !== '')
    const shown = await place()
    await dialog.getByRole('button', { name: 'Use this location' }).click()
    await page.getByTestId('form-submit').click()
    await page.getByTestId('form-done').waitFor()
    expect((await world.records()).map((record) => record.Place)).toEqual([shown.replace('; ', ';')])
  })
})
