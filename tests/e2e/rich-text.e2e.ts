import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually, type GridPage, gridTests, holdScripts, untilInput } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Notes', type: 'LongText' as const, options: { rich: true } },
  { title: 'Plain', type: 'LongText' as const },
]
const MARKDOWN = '# Plan\n\n- **two** colours\n- ready in *May*\n\n<b>raw</b> [site](https://example.com)'
const ROWS = [
  ['Poster', MARKDOWN, '**two**'],
  ['Empty', null, null],
]

const stored = async (grid: GridPage, row: number): Promise<unknown> => {
  const [, , baseId = '', tableId = ''] = new URL(grid.page.url()).hash.split('/')
  const { list } = await tests
    .app()
    .rest(tests.owner().token)
    .get(`/api/v2/tables/${tableId}/records`)
    .then(({ body }) => body)
  expect(baseId).not.toBe('')
  return list[row].Notes
}

const editor = (page: Page) => page.getByRole('textbox', { name: 'Notes' })

/** Waits for the editor itself: until its code is there, a text area stands in for it. */
async function untilFocused(page: Page): Promise<void> {
  const loaded = editor(page).and(page.locator('[contenteditable]'))
  await loaded.waitFor()
  const hasFocus = () => loaded.evaluate((element) => element === document.activeElement)
  expect(await eventually(hasFocus, Boolean)).toBe(true)
}

describe('a long text with formatting', () => {
  test('is drawn formatted in the grid and in a record; HTML and plain fields stay text', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const cell = grid.cell(0, 'Notes')
    await cell.locator('strong', { hasText: 'two' }).waitFor()
    expect(await cell.textContent()).not.toContain('**')
    expect(await cell.locator('b').count()).toBe(0)
    expect(await cell.boundingBox().then((box) => box?.height)).toBeLessThan(40)
    expect(await grid.cell(0, 'Plain').textContent()).toContain('**two**')
    // A click on a link selects the cell; headings and boxes are text there.
    await cell.getByRole('link', { name: 'site' }).dispatchEvent('click')
    expect(grid.openedPages()).toEqual([])
    expect(await cell.locator('h2, input').count()).toBe(0)

    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.press('Space')
    const record = grid.page.locator('[data-testid="cell-input"]').filter({ has: editor(grid.page) })
    await record.locator('li', { hasText: 'colours' }).waitFor()
    await record.getByRole('link', { name: 'site' }).waitFor()
  })

  test('takes the keys typed while the editor is still loading', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const release = await holdScripts(page)
    await grid.cell(1, 'Notes').click()
    await page.keyboard.type('One\n**two', { delay: 0 })
    expect(await editor(page).getAttribute('aria-busy')).toBe('true')
    release()
    await untilFocused(page)
    await page.keyboard.type('**')
    await page.keyboard.press('ControlOrMeta+Enter')
    await editor(page).waitFor({ state: 'detached' })
    await grid.saved()
    expect(await stored(grid, 1)).toContain('One\n')
    expect(await stored(grid, 1)).toContain('two')
  })

  test('is edited with its formatting, and kept as Markdown', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Notes').click()
    await page.keyboard.press('Enter')
    await untilFocused(page)
    await page.keyboard.type('Ship ')
    await page.keyboard.press('ControlOrMeta+b')
    await page.keyboard.type('today')
    await page.keyboard.press('Enter')
    await page.keyboard.type('second')
    await page.keyboard.press('ControlOrMeta+Enter')
    await editor(page).waitFor({ state: 'detached' })
    await grid.cell(1, 'Notes').locator('strong', { hasText: 'today' }).waitFor()
    await grid.saved()
    expect(await stored(grid, 1)).toMatch(/^Ship \*\*today\*\*\n+\*?\*?second/)

    await page.keyboard.press('Enter')
    await untilFocused(page)
    await page.keyboard.type(' and more')
    await page.keyboard.press('Escape')
    await editor(page).waitFor({ state: 'detached' })
    expect(await stored(grid, 1)).not.toContain('more')
  })

  test('opens the form of a link by Ctrl+K also on a keyboard that has no Latin K', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Notes').dblclick()
    await untilFocused(grid.page)
    const keys = { key: 'л', code: 'KeyK', ctrlKey: true, metaKey: false, bubbles: true, cancelable: true }
    await editor(grid.page).dispatchEvent('keydown', keys)
    await grid.page.getByLabel('Link address').waitFor()
  })

  test('is not rewritten when its editor is opened and left', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Notes').dblclick()
    await untilFocused(grid.page)
    grid.calls.length = 0
    await grid.cell(1, 'Title').click()
    await editor(grid.page).waitFor({ state: 'detached' })
    expect(grid.writes()).toEqual([])
    expect(await stored(grid, 0)).toBe(MARKDOWN)
  })

  test('keeps each key while its editor takes the place of the text area', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    // What waits for a time since the text area was drawn waits for it on a slow machine as well.
    await page.addInitScript(() => {
      const now = performance.now.bind(performance)
      performance.now = () => now() / 20
    })
    await page.reload()
    await untilInput(page)
    await grid.cell(1, 'Notes').click()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Notes' }).waitFor()
    // In the page: keys from here may miss the moment.
    const text = await page.evaluate(async () => {
      let typed = ''
      for (let further = 0; further < 10; ) {
        const letter = 'abcdefghij'[typed.length % 10] ?? ''
        document.execCommand('insertText', false, letter)
        typed += letter
        await new Promise((resolve) => setTimeout(resolve, 15))
        if (document.activeElement?.matches('[contenteditable]')) further++
      }
      return typed
    })
    await untilFocused(page)
    await page.keyboard.press('ControlOrMeta+Enter')
    await grid.saved()
    expect(await stored(grid, 1)).toBe(text)
  })

  test('keeps what is typed when the code of its editor is missing', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page, problems } = grid
    const loaded = await page.evaluate(() => performance.timeOrigin)
    const held = Promise.withResolvers<void>()
    await page.route(/text-editor[^/]*\.js/, async (route) => {
      await held.promise
      await route.fulfill({ status: 404 })
    })
    await grid.cell(1, 'Notes').click()
    await page.keyboard.type('bird', { delay: 80 })
    await page.getByRole('textbox', { name: 'Notes' }).waitFor()
    await page.keyboard.press('Home')
    await page.keyboard.type('ear')
    held.resolve()
    await page.getByText('Part of the app could not be loaded').waitFor()
    await page.keyboard.type('ly ')
    await page.keyboard.press('ControlOrMeta+Enter')
    await eventually(
      () => stored(grid, 1),
      (text) => text === 'early bird',
    )
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded)
    problems.length = 0
  })

  test('takes keys before the code of its editor has arrived', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/text-editor[^/]*\.js/, async (route) => {
      await held
      await route.continue()
    })
    await grid.cell(1, 'Notes').click()
    // At a person's pace: the code of popovers loads with the first move of the pointer.
    await page.keyboard.type('early', { delay: 80 })
    expect(
      await eventually(
        () => editor(page).inputValue(),
        (text) => text === 'early',
      ),
    ).toBe('early')
    release()
    await untilFocused(page)
    expect(await editor(page).textContent()).toBe('early')
    await page.keyboard.type(' bird')
    await page.keyboard.press('ControlOrMeta+Enter')
    await grid.saved()
    expect(await stored(grid, 1)).toBe('early bird')
  })
})
