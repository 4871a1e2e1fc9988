import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually, type GridPage, gridTests } from './grid-page.ts'

const tests = gridTests()

/** One field per editor, and a text that it refuses. */
const EDITORS = [
  { type: 'SingleLineText', wrong: null },
  { type: 'LongText', wrong: null },
  { type: 'Number', wrong: '1.9' },
  { type: 'Date', wrong: '2026-13-45' },
  { type: 'DateTime', wrong: '2026-02-31 10:00' },
  { type: 'Time', wrong: '25:00' },
  { type: 'Year', wrong: '20245' },
  { type: 'JSON', wrong: null },
  { type: 'GeoData', wrong: '100' },
  { type: 'User', wrong: 'nobody' },
  { type: 'MultiSelect', wrong: null },
  { type: 'Attachment', wrong: null },
] as const

const SHAPES = {
  'a small window': { width: 800, height: 560, rtl: false },
  'a window from right to left': { width: 800, height: 560, rtl: true },
  'a phone': { width: 390, height: 700, rtl: false },
}

const ROWS = 30

/** The last row of a table with a column for each editor, in a window of a shape. */
async function openLastRow({ width, height, rtl }: (typeof SHAPES)['a phone']): Promise<GridPage> {
  const fields = [
    { title: 'Title', type: 'SingleLineText' as const },
    ...EDITORS.map(({ type }) => ({ title: `A ${type}`, type })),
  ]
  const grid = await tests.open(
    fields,
    Array.from({ length: ROWS }, (_, at) => [`r${at}`]),
  )
  await grid.page.setViewportSize({ width: width + 2, height })
  if (rtl) await grid.page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
  // The grid measures itself anew when its size changes.
  await grid.page.setViewportSize({ width, height })
  await grid.cell(0, 'Title').click()
  await grid.page.keyboard.press('Control+End')
  await grid.page.keyboard.press('Home')
  await grid.cell(ROWS - 1, 'Title').waitFor()
  return grid
}

/** Parts of what is open that are cut off by the window or lie under something else. */
const hiddenParts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = []
    const editor = document.querySelector('[data-testid="cell-editor"]')
    const parts = [
      ...(editor?.querySelectorAll('input, textarea, button, [popover]') ?? []),
      ...document.querySelectorAll('[data-cell-popover], [data-cell-popover] :is(button, input, textarea)'),
    ]
    for (const part of parts) {
      const { left, right, top, bottom, width, height } = part.getBoundingClientRect()
      if (width === 0 || getComputedStyle(part).visibility === 'hidden') continue
      const name = `${part.tagName} ${part.textContent?.slice(0, 20)}`
      if (left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1)
        found.push(`${name} outside: ${[left, top, right, bottom].map(Math.round).join()}`)
      const at = document.elementFromPoint(left + width / 2, top + height / 2)
      if (at && !part.contains(at) && !at.contains(part))
        found.push(`${name} under ${at.className} ${at.tagName}`)
    }
    return found
  })

describe('the frozen column on a phone', () => {
  test('leaves more than half of the window to the others', async () => {
    const grid = await openLastRow(SHAPES['a phone'])
    const frozen = await grid.cell(ROWS - 1, 'Title').boundingBox()
    expect((frozen?.x ?? 390) + (frozen?.width ?? 0)).toBeLessThan(390 / 2)
  })
})

describe('editors of the last row, each at the end of the window,', () => {
  test.each(Object.entries(SHAPES))('are seen whole in %s, and so are their errors', async (_, shape) => {
    const grid = await openLastRow(shape)
    const { page } = grid
    const check = async (type: string) => {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
      // A list is drawn before it is placed.
      await eventually(
        async () => ({ type, hidden: await hiddenParts(page) }),
        ({ hidden }) => hidden.length === 0,
      )
    }
    for (const { type, wrong } of EDITORS) {
      // Going on to the next column brings it to the end of the window.
      await page.keyboard.press(shape.rtl ? 'ArrowLeft' : 'ArrowRight')
      await grid.cell(ROWS - 1, `A ${type}`).waitFor()
      await page.keyboard.press('F2')
      await page.getByTestId('cell-editor').waitFor()
      await check(type)
      if (type === 'LongText') {
        for (let line = 0; line < 6; line++) {
          await page.keyboard.type('a line')
          await page.keyboard.press('Shift+Enter')
        }
        await check(type)
      }
      if (wrong !== null) {
        await page.keyboard.type(wrong)
        await page.keyboard.press('Enter')
        await page.getByTestId('cell-note').waitFor()
        await check(type)
      }
      await page.keyboard.press('Escape')
      await page.getByTestId('cell-editor').waitFor({ state: 'detached' })
    }
  })
})

describe('an open record', () => {
  test.each([1280, 390])('shows the error of an impossible date, %i px wide', async (width) => {
    const grid = await tests.open(
      [
        { title: 'Title', type: 'SingleLineText' as const },
        { title: 'Due', type: 'Date' as const },
      ],
      [['a', '2026-01-02']],
    )
    const { page } = grid
    await page.setViewportSize({ width, height: 700 })
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.waitFor()
    const input = panel.getByRole('textbox', { name: 'Due' })
    await input.fill('2026-13-45')
    await page.keyboard.press('Enter')
    const error = panel.getByRole('alert')
    await error.waitFor()
    const isSeen = await error.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(left + Math.min(width, 40) / 2, top + height / 2))
    })
    expect(isSeen).toBe(true)
    expect(await input.inputValue()).toBe('2026-13-45')
    await page.keyboard.press('Escape')
    expect(await input.inputValue()).toBe('2026-01-02')
    expect(grid.writes()).toEqual([])
  })
})
