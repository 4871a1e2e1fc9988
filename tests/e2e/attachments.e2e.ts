import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { png, uploadOne } from '../records/attachments-support.ts'
import { PASSWORD } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { drop, holdUploads, selectorOf } from './drop-files.ts'
import { eventually, type GridPage, gridTests, type OpenTable, textOf, untilCount } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Files', type: 'Attachment' as const },
  { title: 'Pictures', type: 'Attachment' as const, options: { kinds: ['image'], maxCount: 2 } },
]

interface Opened {
  grid: GridPage
  page: Page
  table: OpenTable
  /** Names of the files of a cell, as the server has them. */
  names: (row: number, title: string) => Promise<string[]>
  untilNames: (row: number, title: string, expected: string[]) => Promise<void>
}

/** A table with one record of two files, and one without. */
async function open(): Promise<Opened> {
  const app = tests.app()
  const { token } = tests.owner()
  const files = [
    await uploadOne({ app }, token, 'photo.png', png(300, 200)),
    await uploadOne({ app }, token, 'notes.txt', 'Hello'),
  ]
  const cell = JSON.stringify(files)
  const table = await tests.createTable(FIELDS, [
    ['first', cell, null],
    ['second', null, null],
  ])
  const grid = await tests.openTable(table)
  const fieldId = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? ''
  const names = async (row: number, title: string) => {
    const { values } = await app.trpc(token).records.get.query({ tableId: table.tableId, recordId: row + 1 })
    return readAttachments(values[fieldId(title)] ?? null).map((item) => item.title)
  }
  return {
    grid,
    page: grid.page,
    table,
    names,
    async untilNames(row, title, expected) {
      expect(
        await eventually(
          () => names(row, title),
          (now) => now.join() === expected.join(),
        ),
      ).toEqual(expected)
    },
  }
}

/** The first record of such a table, open, with the files of a field that the grid does not show. */
async function openHiding(title: string) {
  const opened = await open()
  const { page, table } = opened
  const field = table.schema.fields.find((one) => one.title === title)
  await tests
    .app()
    .trpc(tests.owner().token)
    .views.arrange.mutate({
      viewId: table.schema.views[0]?.id ?? '',
      fields: [{ fieldId: field?.id ?? '', show: false }],
    })
  await page.goto(`${page.url()}?rowId=1`)
  await page.reload()
  const panel = page.getByTestId('record-panel')
  await panel.getByRole('button', { name: /^Hidden fields/ }).click()
  return { ...opened, panel, hidden: panel.getByTestId('file-list').nth(1) }
}

/** A text file for a file input. */
const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })

/** The browser's word of a request may come after the server has answered it. */
async function untilWritten(grid: GridPage, times: number): Promise<void> {
  const writes = async () => grid.writes()
  const expected = Array(times).fill('records.write')
  expect(await eventually(writes, (now) => now.length >= times)).toEqual(expected)
}

describe('an Attachment cell', () => {
  test('draws its files with one call for all links, and opens them in large', async () => {
    const { grid, page } = await open()
    const thumbs = grid.cell(0, 'Files').getByTestId('file-thumb')
    await thumbs.first().locator('img').waitFor()
    grid.calls.length = 0
    await page.reload()
    await thumbs.first().locator('img').waitFor()
    expect(await thumbs.count()).toBe(2)
    expect(grid.calls.filter((call) => call.includes('records.signFiles'))).toHaveLength(1)
    const width = () =>
      thumbs
        .first()
        .locator('img')
        .evaluate((img: HTMLImageElement) => img.naturalWidth)
    expect(await eventually(width, (now) => now > 0)).toBeLessThanOrEqual(256)

    await grid.cell(0, 'Files').hover()
    await page.getByRole('button', { name: 'Expand attachments' }).first().click()
    const viewer = page.getByTestId('viewer')
    await viewer.getByText('photo.png').waitFor()
    await page.keyboard.press('ArrowRight')
    await viewer.getByText('Hello').waitFor()
    await page.keyboard.press('ArrowRight')
    await viewer.getByRole('img', { name: 'photo.png' }).waitFor()
    await page.keyboard.press('+')
    expect(await viewer.getByRole('button', { name: 'Zoom out' }).isEnabled()).toBe(true)
    await page.keyboard.press('Escape')
    await viewer.waitFor({ state: 'detached' })
  })

  test('takes dropped files as one change, which undo takes back', async () => {
    const { grid, page, table, untilNames } = await open()
    const files = ['a', 'b'].map((name) => ({ name: `${name}.txt`, type: 'text/plain', text: name }))
    await drop(page, selectorOf(table, 1, 'Files'), files)
    await untilNames(1, 'Files', ['a.txt', 'b.txt'])
    await untilWritten(grid, 1)
    await page.getByTestId('upload-tray').waitFor({ state: 'detached' })
    await page.keyboard.press('ControlOrMeta+z')
    await untilNames(1, 'Files', [])
    // Elsewhere a dropped file is one to import, and the cell of a text is no place for it.
    await drop(page, selectorOf(table, 1, 'Files'), files.slice(0, 1))
    await untilNames(1, 'Files', ['a.txt'])
    // The cell of the drop is selected, and is looked up again when records come.
    const { trpc, token } = { ...tests.app(), ...tests.owner() }
    const operations = [{ kind: 'insert' as const, tableId: table.tableId, rows: [{ values: {} }] }]
    await trpc(token).records.write.mutate({ change: { baseId: table.baseId, operations } })
    await untilCount(grid, '3 records')
  })

  test('takes dropped files once a person whose session has ended elsewhere has signed in again', async () => {
    const { table, untilNames } = await open()
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const { page, problems } = await tests.openTable(table, editor)
    await page.waitForLoadState('networkidle')
    await tests.app().trpc(editor.token).auth.signOut.mutate()
    await drop(page, selectorOf(table, 1, 'Files'), [{ name: 'a.txt', type: 'text/plain', text: 'a' }])
    const dialog = page.getByRole('dialog', { name: 'You’ve been signed out' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await untilNames(1, 'Files', ['a.txt'])
    problems.length = 0 // The browser notes each refusal.
  })

  test('takes dropped files after its table was left, beside what others have changed since', async () => {
    const { page, table, untilNames } = await open()
    const release = await holdUploads(page)
    await drop(page, selectorOf(table, 0, 'Files'), [{ name: 'a.txt', type: 'text/plain', text: 'a' }])
    await page.getByTestId('upload-tray').waitFor()
    await page.evaluate(() => {
      location.hash = '#/account/profile'
    })
    await page.getByRole('grid').waitFor({ state: 'detached' })
    const { trpc, token } = { ...tests.app(), ...tests.owner() }
    const fieldId = table.schema.fields.find(({ title }) => title === 'Files')?.id ?? ''
    const rows = [{ id: 1, values: { [fieldId]: null } }]
    const operations = [{ kind: 'update' as const, tableId: table.tableId, rows }]
    await trpc(token).records.write.mutate({ change: { baseId: table.baseId, operations } })
    release()
    await untilNames(0, 'Files', ['a.txt'])
  })

  test('takes files and pictures of the clipboard', async () => {
    const { grid, page, untilNames } = await open()
    await grid.cell(1, 'Files').click()
    await page.evaluate(() => {
      const data = new DataTransfer()
      data.items.add(new File(['x'], 'image.txt', { type: 'text/plain' }))
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      )
    })
    await untilNames(1, 'Files', ['image.txt'])
  })

  test('is copied to another field with its files, and to other programs by their names', async () => {
    const { grid, page, names, untilNames } = await open()
    await grid.cell(0, 'Files').click()
    await page.keyboard.press('ControlOrMeta+c')
    await grid.cell(1, 'Files').click()
    await page.keyboard.press('ControlOrMeta+v')
    await untilNames(1, 'Files', ['photo.png', 'notes.txt'])
    const plain = await page.evaluate(() => navigator.clipboard.readText())
    expect(plain).toBe('photo.png, notes.txt')
    // What the field does not take is refused in the cell, in words.
    await grid.cell(1, 'Pictures').click()
    await page.keyboard.press('ControlOrMeta+v')
    const refused = () => grid.cell(1, 'Pictures').getAttribute('title')
    expect(await eventually(refused, (now) => now !== null)).toContain(
      'has a file type that this field does not allow',
    )
    expect(await names(1, 'Pictures')).toEqual([])
    grid.problems.length = 0 // The browser notes each refusal.
  })

  test('leaves files that miss it to an import into the table, and other places refuse them', async () => {
    const { page, table, names } = await open()
    const given = [{ name: 'people.csv', type: 'text/csv', text: 'Title\nAnn\n' }]
    await drop(page, selectorOf(table, 0, 'Title'), given)
    const dialog = page.getByRole('dialog', { name: /^Import/ })
    await dialog.getByText('people.csv').first().waitFor()
    expect(await names(0, 'Files')).toEqual(['photo.png', 'notes.txt'])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // Unless the page prevents it, the browser opens the file in place of the app.
    const isPrevented = (kind: string) =>
      page.evaluate((type) => {
        const data = new DataTransfer()
        data.items.add(new File(['x'], 'x.txt'))
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
        return !document.querySelector('[role="toolbar"]')?.dispatchEvent(event)
      }, kind)
    expect(await isPrevented('dragover')).toBe(true)
    expect(await isPrevented('drop')).toBe(true)
    expect(await dialog.count()).toBe(0)
  })
})

describe('an Attachment cell of a new record', () => {
  test('keeps the record while its first file is being uploaded', async () => {
    const { grid, page, table, untilNames } = await open()
    const release = await holdUploads(page)
    await page.getByTestId('add-record').click()
    await grid.cell(2, 'Files').waitFor()
    await drop(page, selectorOf(table, 2, 'Files'), [{ name: 'a.txt', type: 'text/plain', text: 'a' }])
    await page.getByTestId('upload-tray').waitFor()
    await grid.cell(0, 'Title').click()
    await untilWritten(grid, 1)
    release()
    await untilNames(2, 'Files', ['a.txt'])
  })
})

describe('the list of a cell’s files', () => {
  test('renames, moves and removes by keyboard, and stays open until Escape', async () => {
    const { grid, page, untilNames } = await open()
    await grid.cell(0, 'Files').click()
    await page.keyboard.press('Enter')
    const list = page.getByTestId('file-list')
    await list.getByRole('button', { name: 'Rename photo.png' }).click()
    await page.keyboard.type('sunset')
    await page.keyboard.press('Enter')
    await untilNames(0, 'Files', ['sunset.png', 'notes.txt'])
    await list.getByRole('button', { name: 'Rename notes.txt' }).click()
    await page.keyboard.type('never')
    await page.keyboard.press('Escape')
    await list.getByRole('button', { name: /^Move notes.txt/ }).focus()
    await page.keyboard.press('ArrowUp')
    await untilNames(0, 'Files', ['notes.txt', 'sunset.png'])
    await list.getByRole('button', { name: 'Remove notes.txt' }).press('Enter')
    await untilNames(0, 'Files', ['sunset.png'])
    await list.getByRole('button', { name: 'Open sunset.png' }).click()
    await page.getByTestId('viewer').waitFor()
    await page.keyboard.press('Escape')
    await page.getByTestId('viewer').waitFor({ state: 'detached' })
    expect(await list.count()).toBe(1)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    expect(await page.getByTestId('grid-keys').evaluate((keys) => keys === document.activeElement)).toBe(true)
    await untilWritten(grid, 3)
  })

  test('says in place why a file is not taken, sends none of it, and tries again', async () => {
    const { grid, page, untilNames } = await open()
    await grid.cell(1, 'Pictures').dblclick()
    const list = page.getByTestId('file-list')
    const choose = (files: { name: string; mimeType: string; buffer: Buffer }[]) =>
      list.getByTestId('file-input').setInputFiles(files)
    const picture = { mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) }
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await choose([{ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }])
    await list.getByText('Allowed file types: Images').waitFor()
    expect(posts.filter((url) => url.includes('/storage/'))).toEqual([])
    await list.getByRole('button', { name: 'Dismiss x.txt' }).click()
    await choose(['1.png', '2.png', '3.png'].map((name) => ({ name, ...picture })))
    await list.getByText('This field allows up to 2 files').waitFor()
    await untilNames(1, 'Pictures', ['1.png', '2.png'])
    await list.getByRole('button', { name: 'Remove 1.png' }).click()
    await untilNames(1, 'Pictures', ['2.png'])
    await list.getByRole('button', { name: 'Try again' }).click()
    await untilNames(1, 'Pictures', ['2.png', '3.png'])
    // The server looks at the bytes, whatever the browser thinks of the name.
    await list.getByRole('button', { name: 'Remove 2.png' }).click()
    await untilNames(1, 'Pictures', ['3.png'])
    await choose([{ name: 'no-picture.png', mimeType: 'image/png', buffer: Buffer.from('text') }])
    const refused = () => grid.cell(1, 'Pictures').getAttribute('title')
    expect(await eventually(refused, (now) => now !== null)).toContain('has a file type')
    grid.problems.length = 0
  })

  test('counts files that have arrived while others of their choice are on their way', async () => {
    const { grid, page, untilNames } = await open()
    const released = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let uploads = 0
    await page.route('**/storage/upload', async (route) => {
      await released[uploads++ === 0 ? 0 : 1].promise
      await route.continue()
    })
    await grid.cell(1, 'Pictures').dblclick()
    const list = page.getByTestId('file-list')
    const picture = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) })
    await list.getByTestId('file-input').setInputFiles([picture('1.png'), picture('2.png')])
    const first = list.getByTestId('upload').filter({ hasText: '1.png' })
    await first.waitFor()
    released[0].resolve()
    await first.waitFor({ state: 'detached' })
    await list.getByTestId('file-input').setInputFiles([picture('3.png')])
    await list.getByText('This field allows up to 2 files').waitFor()
    released[1].resolve()
    await untilNames(1, 'Pictures', ['1.png', '2.png'])
  })

  test('says again that a file was not taken, when it was tried again in vain', async () => {
    const { grid, page, table } = await open()
    let tries = 0
    await page.route('**/storage/upload', (route) => {
      tries++
      return route.abort()
    })
    await drop(page, selectorOf(table, 1, 'Files'), [{ name: 'a.txt', type: 'text/plain', text: 'a' }])
    const again = page.getByTestId('upload-tray').getByRole('button', { name: 'Try again' })
    await again.click()
    expect(
      await eventually(
        async () => tries,
        (now) => now === 2,
      ),
    ).toBe(2)
    await again.waitFor()
    grid.problems.length = 0
  })

  test('cancels an upload that is on its way, and goes on with one whose list was closed', async () => {
    const { grid, page, names, untilNames } = await open()
    const release = await holdUploads(page)
    await grid.cell(1, 'Files').dblclick()
    const list = page.getByTestId('file-list')
    await list.getByTestId('file-input').setInputFiles([file('stopped.txt'), file('kept.txt')])
    await list.getByRole('button', { name: 'Cancel upload of stopped.txt' }).click()
    expect(
      await eventually(
        () => list.getByTestId('upload').count(),
        (count) => count === 1,
      ),
    ).toBe(1)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    release()
    await untilNames(1, 'Files', ['kept.txt'])
    expect(await names(1, 'Files')).toEqual(['kept.txt'])
  })

  test('asks before the page is left while a file is being uploaded', async () => {
    const { grid, page, untilNames } = await open()
    const release = await holdUploads(page)
    await grid.cell(1, 'Files').dblclick()
    const list = page.getByTestId('file-list')
    await list.getByTestId('file-input').setInputFiles([file('a.txt')])
    await list.getByTestId('upload').waitFor()
    const asked = page.waitForEvent('dialog')
    await page.close({ runBeforeUnload: true })
    const question = await asked
    expect(question.type()).toBe('beforeunload')
    await question.dismiss()
    release()
    await untilNames(1, 'Files', ['a.txt'])
  })

  test('refuses an address of a private network in words, and asks for one that is an address', async () => {
    const { grid, page } = await open()
    await grid.cell(1, 'Files').dblclick()
    const list = page.getByTestId('file-list')
    await list.getByRole('button', { name: 'Add from URL' }).click()
    await page.keyboard.type('no address')
    await page.keyboard.press('Enter')
    await list.getByText('Enter a URL that starts with').waitFor()
    await page.getByLabel('File URL').fill('http://127.0.0.1/a.png')
    await page.keyboard.press('Enter')
    const failed = list.getByTestId('upload')
    await failed.getByRole('alert').waitFor()
    expect(await textOf(failed)).toContain('private network')
    grid.problems.length = 0 // The browser notes each refusal.
  })
})

describe('the copy of ticked records', () => {
  test('pastes their files', async () => {
    const { grid, page, untilNames } = await open()
    await grid.cell(0, 'Title').hover()
    await page.getByRole('checkbox', { name: 'Select record 1' }).check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByText('1 record copied').waitFor()
    await grid.cell(1, 'Title').click()
    await page.keyboard.press('ControlOrMeta+v')
    await untilNames(1, 'Files', ['photo.png', 'notes.txt'])
  })
})

describe('a change of selected records', () => {
  test('waits for its files, which stay with the field that they were chosen for', async () => {
    const { grid, page, names, untilNames } = await open()
    const release = await holdUploads(page)
    await grid.cell(0, 'Title').hover()
    await page.getByRole('checkbox', { name: 'Select record 1' }).check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Edit field' }).click()
    const form = page.getByRole('dialog', { name: 'Edit field of selected records' })
    const field = form.getByLabel('Field', { exact: true })
    await field.selectOption({ label: 'Files' })
    await form.getByTestId('file-input').setInputFiles([file('new.txt')])
    await form.getByTestId('upload').waitFor()
    const apply = form.getByRole('button', { name: 'Change 1 record' })
    expect(await apply.isDisabled()).toBe(true)
    await field.selectOption({ label: 'Title' })
    const text = form.getByLabel('Title', { exact: true })
    await text.waitFor()
    expect(await apply.isDisabled()).toBe(true)
    release()
    await page.getByTestId('upload').waitFor({ state: 'detached' })
    expect(await text.inputValue()).toBe('')
    expect(await names(0, 'Files')).toEqual(['photo.png', 'notes.txt'])
    await field.selectOption({ label: 'Files' })
    await form.getByText('new.txt').waitFor()
    await apply.click()
    await untilNames(0, 'Files', ['new.txt'])
  })

  test('cancels the uploads that are on their way when it is closed', async () => {
    const { grid, page, names } = await open()
    const release = await holdUploads(page)
    await grid.cell(0, 'Title').hover()
    await page.getByRole('checkbox', { name: 'Select record 1' }).check()
    const edit = page.getByTestId('bulk-bar').getByRole('button', { name: 'Edit field' })
    await edit.click()
    const form = page.getByRole('dialog', { name: 'Edit field of selected records' })
    await form.getByLabel('Field', { exact: true }).selectOption({ label: 'Files' })
    await form.getByTestId('file-input').setInputFiles([file('new.txt')])
    await form.getByTestId('upload').waitFor()
    await edit.click()
    await form.waitFor({ state: 'detached' })
    await page.getByTestId('upload').waitFor({ state: 'detached' })
    release()
    expect(await names(0, 'Files')).toEqual(['photo.png', 'notes.txt'])
  })

  test('imports no file that misses its list', async () => {
    const { grid, page } = await open()
    await grid.cell(0, 'Title').hover()
    await page.getByRole('checkbox', { name: 'Select record 1' }).check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Edit field' }).click()
    const form = page.getByRole('dialog', { name: 'Edit field of selected records' })
    await form.getByLabel('Field', { exact: true }).selectOption({ label: 'Files' })
    await form.getByTestId('file-list').waitFor()
    const given = [{ name: 'people.csv', type: 'text/csv', text: 'Title\nAnn\n' }]
    await drop(page, '[aria-label="Edit field of selected records"] select', given)
    await Bun.sleep(300)
    expect(await page.getByRole('dialog', { name: /^Import/ }).count()).toBe(0)
    expect(await page.getByText('Drop to import into this table').count()).toBe(0)
  })

  test('is not carried out without a file that was refused', async () => {
    const { grid, page, table, names } = await open()
    const { trpc, token } = { ...tests.app(), ...tests.owner() }
    const fieldId = table.schema.fields.find(({ title }) => title === 'Pictures')?.id ?? ''
    const picture = await uploadOne({ app: tests.app() }, token, 'kept.png', png(4, 4))
    const rows = [{ id: 1, values: { [fieldId]: JSON.stringify([picture]) } }]
    const operations = [{ kind: 'update' as const, tableId: table.tableId, rows }]
    await trpc(token).records.write.mutate({ change: { baseId: table.baseId, operations } })
    await grid.cell(0, 'Title').hover()
    await page.getByRole('checkbox', { name: 'Select record 1' }).check()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Edit field' }).click()
    const form = page.getByRole('dialog', { name: 'Edit field of selected records' })
    await form.getByLabel('Field', { exact: true }).selectOption({ label: 'Pictures' })
    await form.getByTestId('file-input').setInputFiles([file('no-picture.txt')])
    await form.locator('[data-testid="upload"][data-state="failed"]').waitFor()
    await form.getByRole('button', { name: 'Change 1 record' }).click()
    // It stays open, at the file.
    expect(
      await form.getByRole('button', { name: 'Try again' }).evaluate((one) => one === document.activeElement),
    ).toBe(true)
    expect(await names(0, 'Pictures')).toEqual(['kept.png'])
  })
})

describe('an open record', () => {
  test('shows its files larger and takes more, also in a field that the grid does not show', async () => {
    const { grid, panel, hidden: pictures, untilNames } = await openHiding('Pictures')
    await panel.getByTestId('file-list').first().getByText('photo.png').waitFor()
    const picture = { mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) }
    await pictures.getByTestId('file-input').setInputFiles([{ name: 'one.png', ...picture }])
    await untilNames(0, 'Pictures', ['one.png'])
    await pictures.getByText('one.png').waitFor()
    await pictures.getByTestId('file-input').setInputFiles([{ name: 'two.png', ...picture }])
    await untilNames(0, 'Pictures', ['one.png', 'two.png'])
    await untilWritten(grid, 2)
  })

  test('removes files one after the other that the grid does not show, on a slow network', async () => {
    const { page, hidden, names, untilNames } = await openHiding('Files')
    await page.route('**/trpc/records.write*', async (route) => {
      await Bun.sleep(300)
      await route.continue()
    })
    await hidden.getByRole('button', { name: 'Remove photo.png' }).click()
    await hidden.getByRole('button', { name: 'Remove notes.txt' }).click()
    await untilNames(0, 'Files', [])
    await hidden.getByTestId('file-row').first().waitFor({ state: 'detached' })
    expect(await names(0, 'Files')).toEqual([])
  })

  test('takes files that arrive together for a field that the grid does not show', async () => {
    const { page, hidden, names, untilNames } = await openHiding('Files')
    const release = await holdUploads(page)
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      await hidden.getByTestId('file-input').setInputFiles([file(name)])
      await hidden.getByTestId('upload').filter({ hasText: name }).waitFor()
    }
    await hidden.getByRole('button', { name: 'Remove photo.png' }).click()
    await untilNames(0, 'Files', ['notes.txt'])
    release()
    await eventually(
      () => names(0, 'Files'),
      (now) => now.length === 4,
    )
    expect((await names(0, 'Files')).toSorted()).toEqual(['a.txt', 'b.txt', 'c.txt', 'notes.txt'])
  })

  test('shows a viewer of the base the files, and nothing to change them with', async () => {
    const { table } = await open()
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const grid = await tests.openTable(table, viewer)
    await grid.cell(0, 'Files').dblclick()
    await grid.page.getByTestId('viewer').getByText('photo.png').waitFor()
    await grid.page.keyboard.press('Escape')
    await grid.cell(0, 'Files').click()
    await grid.page.keyboard.press('Space')
    const panel = grid.page.getByTestId('record-panel')
    await panel.getByRole('button', { name: 'Open photo.png' }).waitFor()
    expect(await panel.getByTestId('file-list').count()).toBe(0)
  })
})

describe('links that work for a minute', () => {
  const brief = gridTests({ config: { attachmentLinkSeconds: 60 } })

  test('are not asked for again at once', async () => {
    const app = brief.app()
    const photo = await uploadOne({ app }, brief.owner().token, 'photo.png', png(300, 200))
    const table = await brief.createTable(FIELDS, [['first', JSON.stringify([photo]), null]])
    const grid = await brief.openTable(table)
    await grid.cell(0, 'Files').getByTestId('file-thumb').locator('img').waitFor()
    await Bun.sleep(1000)
    const asked = grid.calls.filter((call) => call.includes('records.signFiles'))
    expect(asked.length).toBeLessThanOrEqual(1)
  })
})
