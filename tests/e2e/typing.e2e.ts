import { describe, expect, test } from 'bun:test'
import {
  clipboardOf,
  copied,
  eventually,
  type GridPage,
  gridTests,
  holdScripts,
  recordCount,
} from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
  { title: 'Notes', type: 'LongText' as const },
]

const ROWS = [
  ['cherry', 30, 'red'],
  ['apple', 10, 'green'],
]

/** An input method as the browser tells of it: a word in the making, then the word. */
async function inputMethod(grid: GridPage) {
  const session = await grid.context.newCDPSession(grid.page)
  return {
    compose: (text: string) =>
      session.send('Input.imeSetComposition', {
        text,
        selectionStart: text.length,
        selectionEnd: text.length,
      }),
    finish: (text: string) => session.send('Input.insertText', { text }),
  }
}

const editorText = (grid: GridPage) =>
  grid.page.getByTestId('cell-editor').locator('input, textarea').inputValue()

describe('an input method', () => {
  test('writes into the selected cell from its first key', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    const method = await inputMethod(grid)
    await method.compose('に')
    await method.compose('にほ')
    const receiver = page.getByTestId('grid-keys')
    expect(await receiver.inputValue()).toBe('にほ')
    // It shows where the cell is.
    const [shown, cell] = [await receiver.boundingBox(), await grid.cell(0, 'Title').boundingBox()]
    expect(Math.abs((shown?.x ?? 0) - (cell?.x ?? -99))).toBeLessThan(3)
    expect(Math.abs((shown?.y ?? 0) - (cell?.y ?? -99))).toBeLessThan(3)
    await method.finish('日本')
    expect(await editorText(grid)).toBe('日本')
    await method.compose('ご')
    await method.finish('語')
    await page.keyboard.press('Enter')
    expect((await grid.column('Title', 2)).map((text) => text.trim())).toEqual(['日本語', 'apple'])
    await page.keyboard.type('ok', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.shows('Title', ['日本語', 'ok'])
    await grid.untilWritten(['records.write', 'records.write'])
  })

  test('keeps the word when one presses another cell', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(1, 'Notes').click()
    const method = await inputMethod(grid)
    await method.compose('한')
    await grid.cell(0, 'Stock').click()
    expect(
      await eventually(
        () => grid.column('Notes', 2),
        (texts) => texts[1] === '한',
      ),
    ).toEqual(['red', '한'])
  })

  test('gives up by Escape, leaving the cell as it was', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Title').click()
    const method = await inputMethod(grid)
    await method.compose('x')
    await method.compose('')
    await grid.page.keyboard.press('ArrowDown')
    await grid.shows('Title', ['cherry', 'apple'])
    expect(grid.writes()).toEqual([])
  })

  test('is refused by a number in the editor, where the text stays', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Stock').click()
    const method = await inputMethod(grid)
    await method.compose('日')
    await method.finish('日')
    await grid.page.keyboard.press('Enter')
    await grid.page.getByRole('alert').waitFor()
    expect(await editorText(grid)).toBe('日')
    await grid.shows('Stock', ['30'])
  })
})

/** Loads the page again without the code that handles input. Returns what lets it through. */
async function withoutInputCode({ page }: GridPage): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isAsked = false
  await page.route(/\/assets\/later-[^/]*\.js$/, async (route) => {
    // Before it is held, so that a slow answer does not end the time in which a press allows to copy.
    const response = await route.fetch()
    isAsked = true
    await promise
    await route.fulfill({ response })
  })
  await page.reload()
  await page.waitForSelector('[data-testid="row"][data-loaded]')
  await eventually(
    async () => isAsked,
    (now) => now,
  )
  expect(isAsked).toBe(true)
  return resolve
}

describe('input before its code has arrived', () => {
  test('selects a cell, types over it and moves on', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.type('kiwi', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    await grid.page.keyboard.type('fig', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    expect(await grid.column('Title', 2)).toEqual(['cherry', 'apple'])
    release()
    await grid.shows('Title', ['kiwi', 'fig'])
    expect(await grid.column('Stock', 2)).toEqual(['30', '10'])
  })

  test('pastes into the pressed cell', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.cell(0, 'Title').click()
    await grid.paste('plum\npear')
    release()
    await grid.shows('Title', ['plum', 'pear'])
  })

  test('selects a range by dragging and copies it', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.cell(0, 'Title').hover()
    await grid.page.mouse.down()
    await grid.cell(1, 'Stock').hover()
    await grid.page.mouse.up()
    const { plain } = await copied(grid.page, async () => {
      await grid.page.keyboard.press('ControlOrMeta+c')
      release()
    })
    expect(plain).toBe('cherry\t30\napple\t10')
    await grid.page.waitForSelector('[data-testid="selection-numbers"]')
  })

  test('opens the menu of a field, once', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.header('Title').hover()
    await grid.header('Title').getByTestId('header-menu').click()
    expect(await grid.page.getByRole('menu').count()).toBe(0)
    release()
    await grid.page.getByRole('menu').waitFor()
    expect(await grid.page.getByRole('menu').count()).toBe(1)
  })

  test('composes a word with an input method', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.page.getByTestId('grid-keys').focus()
    const method = await inputMethod(grid)
    await method.compose('にほ')
    await method.finish('日本')
    release()
    expect(
      await eventually(
        () => grid.page.getByTestId('cell-editor').count(),
        (count) => count === 1,
      ),
    ).toBe(1)
    expect(await editorText(grid)).toBe('日本')
  })

  test('writes text without keys into the pressed cell, between keys', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.insertText('🎉')
    await grid.page.keyboard.type('a', { delay: 0 })
    await grid.page.keyboard.insertText('é')
    await grid.page.keyboard.press('Enter')
    release()
    await grid.shows('Title', ['🎉aé', 'apple'])
  })

  test('keeps the order of composed words and keys', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.page.getByTestId('grid-keys').focus()
    const method = await inputMethod(grid)
    await grid.page.keyboard.type('a', { delay: 0 })
    await method.compose('にほ')
    await method.finish('日本')
    await grid.page.keyboard.type('b', { delay: 0 })
    await grid.page.keyboard.press('Enter')
    await method.compose('ご')
    await method.finish('語')
    await grid.page.keyboard.press('Enter')
    release()
    await grid.shows('Title', ['a日本b', '語'])
  })

  test('keeps a word in the making behind the keys before it', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const release = await withoutInputCode(grid)
    await grid.cell(0, 'Title').click()
    const method = await inputMethod(grid)
    await grid.page.keyboard.type('a', { delay: 0 })
    await method.compose('にほ')
    release()
    await grid.page.getByTestId('cell-editor').waitFor()
    expect(
      await eventually(
        () => editorText(grid),
        (text) => text === 'aにほ',
      ),
    ).toBe('aにほ')
  })

  test.each(['a link', 'a search'] as const)('takes the keys away from %s', async (from) => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const release = await withoutInputCode(grid)
    const search = page.getByLabel('Search tables and views')
    const former = from === 'a search' ? search : page.getByRole('link', { name: 'Tasks' }).first()
    await former.focus()
    await grid.cell(0, 'Title').click()
    await page.keyboard.type('plum', { delay: 0 })
    await page.keyboard.press('Enter')
    release()
    await grid.shows('Title', ['plum', 'apple'])
    expect(await search.inputValue()).toBe('')
    await page.keyboard.type('fig', { delay: 0 })
    await page.keyboard.press('Enter')
    await grid.shows('Title', ['plum', 'fig'])
  })

  test('pastes what was copied before, and not what the clipboard held by then', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    const release = await withoutInputCode(grid)
    await page.evaluate(() => navigator.clipboard.writeText('old'))
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('ControlOrMeta+c')
    await grid.cell(1, 'Title').click()
    await page.keyboard.press('ControlOrMeta+v')
    release()
    await grid.shows('Title', ['cherry', 'cherry'])
    expect((await clipboardOf(page)).plain).toBe('cherry')
  })
})

describe('an emoji panel', () => {
  test('writes into the selected cell', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    await grid.cell(0, 'Title').click()
    await grid.page.keyboard.insertText('🎉')
    expect(await editorText(grid)).toBe('🎉')
    await grid.page.keyboard.press('Tab')
    await grid.shows('Title', ['🎉'])
  })
})

describe('the focus of the grid', () => {
  test('is one stop, named after the view, and points at the active cell', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(1, 'Stock').click()
    const keys = page.getByTestId('grid-keys')
    expect(await keys.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await keys.getAttribute('aria-label')).toContain('Tasks')
    const pointed = await eventually(
      () => keys.getAttribute('aria-activedescendant'),
      (id) => id !== null,
    )
    expect(await page.locator(`[id="${pointed}"]`).textContent()).toBe('10')
    // Shortcuts of the page still work from it.
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByTestId('search-input').waitFor()
    await page.keyboard.press('Escape')
    expect(await keys.evaluate((element) => element === document.activeElement)).toBe(true)
    await grid.cell(0, 'Title').click()
    await page.keyboard.press('Shift+Tab')
    expect(
      await page.evaluate(() => document.querySelector('[data-grid]')?.contains(document.activeElement)),
    ).toBe(false)
    await page.keyboard.press('Tab')
    expect(await keys.evaluate((element) => element === document.activeElement)).toBe(true)
  })
})

describe('Ctrl with an arrow', () => {
  test('goes to the edge of what is filled', async () => {
    const rows = [
      ['a', 1, ''],
      ['b', 2, ''],
      ['', 3, ''],
      ['', 4, 'x'],
      ['e', 5, ''],
    ]
    const grid = await tests.open(
      FIELDS,
      rows.map((row) => row.map((value) => (value === '' ? null : value))),
    )
    const { page } = grid
    const active = () =>
      page
        .locator('[aria-selected="true"]')
        .first()
        .evaluate(({ dataset }: HTMLElement) => [dataset.row, dataset.column].join())
    await grid.cell(0, 'Title').click()
    const press = async (key: string, expected: string) => {
      await page.keyboard.press(key)
      expect(await eventually(active, (now) => now === expected)).toBe(expected)
    }
    await press('Control+ArrowDown', '1,0')
    await press('Control+ArrowDown', '4,0')
    await press('Control+ArrowRight', '4,1')
    await press('Control+ArrowUp', '0,1')
    await press('Control+ArrowRight', '0,2')
    await press('Control+ArrowDown', '3,2')
  })
})

describe('what is typed right after a shortcut, on a slow network', () => {
  /** Opens the grid again, without the scripts that contain a text until they are released. */
  async function openWithout(marker: string, rows = ROWS) {
    const grid = await tests.open(FIELDS, rows)
    const { page } = grid
    // What loads after the first content.
    await page.waitForLoadState('networkidle')
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const held: string[] = []
    await page.route('**/assets/*.js', async (route) => {
      const response = await route.fetch()
      if ((await response.text()).includes(marker)) {
        held.push(route.request().url())
        await promise
      }
      await route.fulfill({ response })
    })
    await page.reload()
    await grid.shows('Title', ['cherry', 'apple'])
    await grid.cell(0, 'Title').click()
    await eventually(
      async () => held.length,
      (count) => count === 1,
    )
    expect(held).toHaveLength(1)
    return { grid, page, release }
  }

  test('is searched for, and not written into the selected cell', async () => {
    const { grid, page, release } = await openWithout('search-input')
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('appx')
    await page.keyboard.press('Backspace')
    release()
    await grid.shows('Title', ['apple'])
    const input = page.getByTestId('search-input')
    expect(await input.inputValue()).toBe('app')
    expect(grid.writes()).toEqual([])
  })
  test('is looked up in the palette, and goes back into the cell once that is closed', async () => {
    const { grid, page, release } = await openWithout('Search bases, tables')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('shortcuts')
    release()
    await page.getByRole('option', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await page.getByRole('combobox').inputValue()).toBe('shortcuts')
    expect(grid.writes()).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.type('plum')
    await page.keyboard.press('Enter')
    await grid.shows('Title', ['plum', 'apple'])
  })
  test('names and creates the table whose dialog it opens', async () => {
    const { grid, page, release } = await openWithout('Description (optional)')
    await page.keyboard.press('Alt+t')
    await page.keyboard.type('Orders')
    await page.keyboard.press('Enter')
    release()
    await page.getByLabel('Breadcrumb').getByText('Orders').first().waitFor()
    await grid.untilWritten(['schema.createTable'])
  })
  test('goes into the record that it adds', async () => {
    const { grid, page, release } = await openWithout('search-input')
    await page.keyboard.press('Alt+r')
    await page.keyboard.type('plum')
    await page.keyboard.press('Enter')
    release()
    await grid.shows('Title', ['cherry', 'apple', 'plum'])
    await page.keyboard.press('ControlOrMeta+z')
    await grid.shows('Title', ['cherry', 'apple'])
  })

  /** Opens the palette, whose code is held back, while the grid has the focus. */
  async function openPalette() {
    const opened = await openWithout('Search bases, tables')
    const { grid, page } = opened
    await page.waitForFunction(() => document.activeElement?.matches('[data-testid="grid-keys"]'))
    await page.keyboard.press('ControlOrMeta+k')
    const searched = async (text: string) => {
      await page.getByRole('combobox').waitFor()
      const value = () => page.getByRole('combobox').inputValue()
      expect(await eventually(value, (now) => now === text)).toBe(text)
    }
    return { ...opened, method: await inputMethod(grid), searched }
  }

  test('is composed by an input method, also between keys, and leaves nothing in the cell', async () => {
    const { grid, page, release, method, searched } = await openPalette()
    await page.keyboard.type('a')
    await method.compose('ぷ')
    await method.compose('ぷぷ')
    await method.finish('pp')
    await page.keyboard.type('l')
    await method.compose('x')
    await method.compose('')
    await page.keyboard.insertText('e')
    expect(await page.getByTestId('grid-keys').inputValue()).toBe('')
    release()
    await searched('apple')
    expect(grid.writes()).toEqual([])
    // The grid composes as before.
    await page.keyboard.press('Escape')
    await method.compose('に')
    await method.finish('日')
    expect(await editorText(grid)).toBe('日')
  })

  /** Opens a grid with a selected cell, without the scripts that load when something is opened. */
  async function openSelected() {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await grid.cell(0, 'Title').click()
    // Popovers load with the first press.
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => name.includes('/overlay-parts-')),
    )
    return { grid, page, release: await holdScripts(page) }
  }

  test('is selected and undone there, and the cell keeps what it has', async () => {
    const { grid, page, release, searched } = await openPalette()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('old')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('x')
    await page.keyboard.press('ControlOrMeta+z')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('apple')
    release()
    await searched('apple')
    expect(grid.writes()).toEqual([])
    expect(await page.locator('[aria-selected="true"][role="gridcell"]').count()).toBe(1)
  })

  test('saves the field whose editor it opens, and adds no record', async () => {
    const { grid, page, release } = await openSelected()
    await page.keyboard.press('Alt+c')
    await page.keyboard.type('Price')
    await page.keyboard.press('ControlOrMeta+Enter')
    release()
    await page.getByRole('columnheader', { name: 'Price' }).waitFor()
    expect(await recordCount(grid)).toBe('2 records')
    await grid.untilWritten(['schema.createField'])
  })

  test('ends a word in the making when the box opens', async () => {
    const { grid, page, release, method, searched } = await openPalette()
    await method.compose('app')
    release()
    await searched('app')
    expect(await page.getByTestId('grid-keys').inputValue()).toBe('')
    expect(grid.writes()).toEqual([])
  })

  test('has the characters of AltGr', async () => {
    const { grid, page, release } = await openWithout('search-input')
    await page.keyboard.press('ControlOrMeta+f')
    // As Windows and Linux report it.
    await page.evaluate(() => {
      const init = { key: '@', code: 'KeyQ', ctrlKey: true, altKey: true, modifierAltGraph: true }
      const target = document.activeElement ?? document.body
      target.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true }))
    })
    await page.keyboard.type('b')
    release()
    await page.getByTestId('search-input').waitFor()
    expect(
      await eventually(
        () => page.getByTestId('search-input').inputValue(),
        (text) => text !== '',
      ),
    ).toBe('@b')
    expect(grid.writes()).toEqual([])
  })

  test('is given up from a key on that moves the focus or the caret', async () => {
    for (const key of ['Tab', 'ArrowLeft']) {
      const { page, grid, release } = await openWithout('Description (optional)')
      await page.keyboard.press('Alt+t')
      await page.keyboard.type('Orders')
      await page.keyboard.press(key)
      await page.keyboard.type('more')
      release()
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      const texts = () =>
        dialog
          .locator('input, textarea')
          .evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value).filter(Boolean))
      // A name is suggested, in place of which this one goes.
      expect(await eventually(texts, (all) => all.includes('Orders'))).toContain('Orders')
      expect((await texts()).join()).not.toContain('more')
      expect(grid.writes()).toEqual([])
    }
  })

  test('goes to the record that it opens, and not into the selected cell', async () => {
    const { grid, page, release } = await openSelected()
    const asked = page.waitForRequest(/record-panel[^/]*\.js/)
    await page.keyboard.press('Space')
    await asked
    await page.keyboard.type('x')
    await page.keyboard.press('Escape')
    release()
    await page.waitForFunction(() => !location.href.includes('rowId'))
    await page.getByTestId('record-panel').waitFor({ state: 'detached' })
    await grid.shows('Title', ['cherry', 'apple'])
    expect(await page.getByTestId('cell-editor').count()).toBe(0)
    expect(grid.writes()).toEqual([])
  })

  test('goes to a text field that one presses meanwhile', async () => {
    const { grid, page, release } = await openSelected()
    const asked = page.waitForRequest(/record-panel[^/]*\.js/)
    await page.keyboard.press('Space')
    await asked
    const search = page.getByLabel('Search tables and views')
    await search.click()
    await page.keyboard.type('Task')
    expect(await search.inputValue()).toBe('Task')
    release()
    await page.getByTestId('record-panel').waitFor()
    expect(await grid.column('Title', 2)).toEqual(['cherry', 'apple'])
  })

  test('goes nowhere once the pressed cell has been scrolled away', async () => {
    const many = Array.from({ length: 300 }, (_, at) => [`r${at}`, at, ''])
    const { grid, page, release } = await openWithout('search-input', [...ROWS, ...many])
    await page.mouse.wheel(0, 6_000)
    await page.waitForTimeout(200)
    await page.keyboard.type('plum')
    await page.keyboard.press('Enter')
    release()
    await eventually(
      async () => {
        await grid.page.locator('[data-testid="row"]:nth-child(8) [role="gridcell"]').nth(1).click()
        return page.getByTestId('active-cell').count()
      },
      (count) => count === 1,
    )
    expect(grid.writes()).toEqual([])
  })
})
