import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { View } from '../../src/core/model.ts'
import { png, uploadOne } from '../records/attachments-support.ts'
import { createMember } from '../support/factories.ts'
import { dragAtOnce } from './drag-at-once.ts'
import { holdUploads } from './drop-files.ts'
import { eventually, gridTests, type OpenTable, textOf, untilCount } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Photos', type: 'Attachment' as const },
  { title: 'Notes', type: 'LongText' as const },
]

/** A table with a gallery, which is open. */
async function openGallery(rows: CellValue[][], user = tests.owner()) {
  const table = await tests.createTable(FIELDS, rows)
  const api = tests.app().trpc(tests.owner().token)
  const view = await api.views.create.mutate({ tableId: table.tableId, title: 'Cards', kind: 'gallery' })
  return show(table, view, user)
}

async function show(table: OpenTable, view: View, user = tests.owner()) {
  const grid = await tests.openTable(table, user, {}, { viewId: view.id })
  const { page } = grid
  await page
    .getByTestId('gallery-card')
    .or(page.getByTestId('empty-state'))
    .or(page.getByText('no records yet'))
    .first()
    .waitFor()
  grid.calls.length = 0
  const card = (title: string) => page.getByTestId('gallery-card').filter({ hasText: title })
  const titles = async () => {
    const texts: string[] = []
    for (const one of await page.getByTestId('gallery-card').all())
      texts.push((await textOf(one.locator('[dir="auto"]').first())).trim())
    return texts.join(' ')
  }
  const untilTitles = async (expected: string) =>
    expect(await eventually(titles, (now) => now === expected)).toBe(expected)
  return { ...grid, grid, table, view, card, untilTitles }
}

const letters = (count: number): CellValue[][] =>
  Array.from({ length: count }, (_, at) => [`r${at + 1}`, null, null])

describe('a gallery', () => {
  test('selects all cards by Ctrl+A also on a keyboard that has no Latin A', async () => {
    const { page, card, untilTitles } = await openGallery(letters(3))
    await untilTitles('r1 r2 r3')
    await card('r2').focus()
    const keys = { key: 'ф', code: 'KeyA', ctrlKey: true, metaKey: false, bubbles: true, cancelable: true }
    await card('r2').dispatchEvent('keydown', keys)
    await page.getByTestId('bulk-bar').getByText('3 records selected').waitFor()
  })

  test('shows pictures to leaf through, whole or cropped, and no empty room without one', async () => {
    const app = tests.app()
    const files = [
      await uploadOne({ app }, tests.owner().token, 'a.png', png(300, 200)),
      await uploadOne({ app }, tests.owner().token, 'b.png', png(200, 300)),
    ]
    const { page, card } = await openGallery([
      ['with', JSON.stringify(files), 'a note'],
      ['without', null, 'another'],
    ])
    const cover = card('with').getByTestId('card-cover').first()
    await cover.getByRole('img', { name: 'a.png' }).waitFor()
    await cover.hover()
    await cover.getByRole('button', { name: 'Next image' }).click()
    await cover.getByRole('img', { name: 'b.png' }).waitFor()
    await cover.getByRole('img', { name: 'Image 2 of 2' }).waitFor()
    // Leafing through opens nothing.
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    expect(await card('without').getByTestId('card-cover').count()).toBe(0)
    const boxes = await Promise.all([card('a note').boundingBox(), card('another').boundingBox()])
    expect(boxes[0]?.height).toBe(boxes[1]?.height)

    await page.getByTestId('cover-button').click()
    await page.getByRole('dialog').getByLabel('Image fit').selectOption('crop')
    await page.locator('[data-testid="card-cover"][data-fit="crop"]').waitFor()
    await page.getByRole('dialog').getByLabel('Cover image').selectOption('')
    await page.getByTestId('card-cover').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    const view = async () => {
      const { views } = await app
        .trpc(tests.owner().token)
        .schema.table.query({ tableId: (await table).tableId })
      return views.find(({ kind }) => kind === 'gallery')?.options
    }
    const table = tableOf(page.url())
    expect(await eventually(view, (now) => JSON.stringify(now)?.includes('null') ?? false)).toEqual({
      coverFieldId: null,
      coverFit: 'crop',
    })
  })

  test('deletes all cards that are selected, and brings them back', async () => {
    const { page, card, untilTitles } = await openGallery(letters(4))
    await untilTitles('r1 r2 r3 r4')
    await card('r2').focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.getByTestId('bulk-bar').getByText('4 records selected').waitFor()
    await page.keyboard.press('Delete')
    await page.getByText('4 records deleted').waitFor()
    await page.getByTestId('gallery-card').first().waitFor({ state: 'detached' })
    await page.keyboard.press('ControlOrMeta+z')
    await untilTitles('r1 r2 r3 r4')
    // All but one.
    await card('r2').focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.getByTestId('bulk-bar').getByText('4 records selected').waitFor()
    await card('r4').click({ modifiers: ['ControlOrMeta'] })
    await page.getByTestId('bulk-bar').getByText('3 records selected').waitFor()
    await card('r2').focus()
    await page.keyboard.press('Delete')
    await untilTitles('r4')
    await page.keyboard.press('ControlOrMeta+z')
    await untilTitles('r1 r2 r3 r4')
  })

  test('moves a card that is dragged so quickly that nothing was drawn between', async () => {
    const { page, card, untilTitles, untilWritten } = await openGallery(letters(4))
    await untilTitles('r1 r2 r3 r4')
    const [from, to] = [await card('r4').boundingBox(), await card('r1').boundingBox()]
    if (!from || !to) throw new Error('there is nothing to drag')
    await dragAtOnce(page, {
      from: { x: from.x + 40, y: from.y + 20 },
      to: { x: to.x + 5, y: to.y + 40 },
      by: 'mouse',
    })
    await untilTitles('r4 r1 r2 r3')
    await untilWritten(['records.write'])
    expect(await page.getByTestId('record-panel').count()).toBe(0)
  })

  test('keeps the order of cards that are dragged together', async () => {
    const { page, card, untilTitles } = await openGallery(letters(4))
    await untilTitles('r1 r2 r3 r4')
    await card('r4').click({ modifiers: ['ControlOrMeta'] })
    await card('r3').click({ modifiers: ['ControlOrMeta'] })
    // The bar above the cards moves them.
    await page.getByTestId('bulk-bar').getByText('2 records selected').waitFor()
    const [from, to] = [await card('r3').boundingBox(), await card('r1').boundingBox()]
    if (!from || !to) throw new Error('there is nothing to drag')
    await page.mouse.move(from.x + 40, from.y + 20)
    await page.mouse.down()
    await page.mouse.move(to.x + 30, to.y + 40, { steps: 6 })
    await page.mouse.move(to.x + 5, to.y + 40, { steps: 2 })
    await page.mouse.up()
    await untilTitles('r3 r4 r1 r2')
  })

  test('is walked by keyboard, opens records and comes back to where one was', async () => {
    const { page, card, grid, untilWritten } = await openGallery(letters(60))
    await card('r1').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    const focused = () => page.evaluate(() => Number(document.activeElement?.getAttribute('data-index')))
    const at = await eventually(focused, (now) => now > 1)
    expect(at).toBeGreaterThan(1)
    await page.keyboard.press('Enter')
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('heading', { name: `r${at + 1}` }).waitFor()
    // The panel follows the card, and closing it gives the focus back.
    await page.getByTestId('gallery-card').nth(0).click()
    await panel.getByRole('heading', { name: 'r1', exact: true }).waitFor()
    await panel.focus()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(await eventually(focused, (now) => now === 0)).toBe(0)
    // Past the last record stands the one that adds another.
    await page.keyboard.press('End')
    expect(await eventually(focused, (now) => now === 60)).toBe(60)
    await page.keyboard.press('ControlOrMeta+Home')
    expect(await eventually(focused, (now) => now === 0)).toBe(0)
    await page.keyboard.press('End')
    await eventually(focused, (now) => now === 60)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Delete')
    await untilCount(grid, '59 records')
    await page.getByRole('button', { name: 'Undo' }).click()
    await untilCount(grid, '60 records')
    await untilWritten(['records.write', 'records.undo'])
  })

  test('adds a record with what was typed, and keeps that where one leaves without saving', async () => {
    const { page, card, untilWritten } = await openGallery(letters(2))
    await page.keyboard.press('Alt+r')
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title').fill('fresh')
    await page.keyboard.press('ControlOrMeta+Enter')
    await dialog.waitFor({ state: 'detached' })
    await card('fresh').waitFor()
    await untilWritten(['records.write'])
    // Left without saving, it can be taken up again.
    await page.getByTestId('gallery-add').click()
    await dialog.getByLabel('Title').fill('half')
    await dialog.getByLabel('Notes').focus()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog.getByLabel('Title').inputValue()).toBe('half')
    await dialog.getByTestId('create-record').click()
    await card('half').waitFor()
  })

  test('adds a record once its files have arrived', async () => {
    const { page, card, table } = await openGallery(letters(1))
    const release = await holdUploads(page)
    await page.getByTestId('gallery-add').click()
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title').fill('fresh')
    const photo = { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) }
    await dialog.getByTestId('file-input').setInputFiles(photo)
    await dialog.getByTestId('upload').waitFor()
    await page.keyboard.press('ControlOrMeta+Enter')
    expect(await dialog.getByTestId('create-record').isDisabled()).toBe(true)
    release()
    await dialog.getByTestId('file-row').waitFor()
    await dialog.getByTestId('create-record').click()
    await card('fresh').waitFor()
    const { body } = await tests
      .app()
      .rest(tests.owner().token)
      .get(`/api/v2/tables/${table.tableId}/records`)
    expect(body.list.at(-1).Photos).toMatchObject([{ title: 'a.png' }])
  })

  test('adds no record without a file that was refused, also after the server has refused it', async () => {
    const { grid, page, table } = await openGallery(letters(1))
    const data = { code: 'UNPROCESSABLE_CONTENT', httpStatus: 422, appCode: 'INVALID_VALUE_FOR_FIELD' }
    const error = { message: 'The month is closed', code: -32_000, data }
    await page.route('**/trpc/records.write*', (route) => route.fulfill({ status: 422, json: { error } }), {
      times: 1,
    })
    await page.getByTestId('gallery-add').click()
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title').fill('fresh')
    await dialog.getByTestId('create-record').click()
    await dialog.getByText('The month is closed').waitFor()
    const upload = /\/storage\/upload/
    await page.route(upload, (route) => route.fulfill({ status: 413, json: { msg: 'Too large' } }), {
      times: 1,
    })
    const photo = { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) }
    await dialog.getByTestId('file-input').setInputFiles(photo)
    await dialog.locator('[data-testid="upload"][data-state="failed"]').waitFor()
    await dialog.getByTestId('create-record').click()
    const retry = dialog.getByRole('button', { name: 'Try again' })
    expect(await retry.evaluate((one) => one === document.activeElement)).toBe(true)
    const { body } = await tests
      .app()
      .rest(tests.owner().token)
      .get(`/api/v2/tables/${table.tableId}/records`)
    expect(body.list).toHaveLength(1)
    grid.problems.length = 0 // The browser notes each refusal.
  })

  test('adds no record without a file that was refused in a hidden field, which is shown then', async () => {
    const table = await tests.createTable(FIELDS, letters(1))
    const api = tests.app().trpc(tests.owner().token)
    const view = await api.views.create.mutate({ tableId: table.tableId, title: 'Cards', kind: 'gallery' })
    const photos = table.schema.fields.find(({ title }) => title === 'Photos')?.id ?? ''
    await api.views.arrange.mutate({ viewId: view.id, fields: [{ fieldId: photos, show: false }] })
    const { grid, page } = await show(table, view)
    await page.getByTestId('gallery-add').click()
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel('Title').fill('fresh')
    const more = dialog.getByRole('button', { name: /hidden field/i })
    await more.click()
    await page.route(/\/storage\/upload/, (route) =>
      route.fulfill({ status: 413, json: { msg: 'Too large' } }),
    )
    const photo = { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(png(4, 4)) }
    await dialog.getByTestId('file-input').setInputFiles(photo)
    await dialog.locator('[data-testid="upload"][data-state="failed"]').waitFor()
    await more.click()
    const retry = dialog.getByRole('button', { name: 'Try again' })
    await retry.waitFor({ state: 'hidden' })
    await dialog.getByTestId('create-record').click()
    await retry.waitFor()
    expect(await retry.evaluate((one) => one === document.activeElement)).toBe(true)
    expect(grid.writes()).toEqual([])
    grid.problems.length = 0 // The browser notes each refusal.
  })

  test('chooses cards for the bar, moves them by drag and key, and follows what others write', async () => {
    const { page, card, table, untilTitles, grid } = await openGallery(letters(4))
    await untilTitles('r1 r2 r3 r4')
    const [from, to] = [await card('r4').boundingBox(), await card('r1').boundingBox()]
    if (!from || !to) throw new Error('cards are not there')
    await page.mouse.move(from.x + 40, from.y + 20)
    await page.mouse.down()
    await page.mouse.move(to.x + 30, to.y + 40, { steps: 6 })
    await page.mouse.move(to.x + 5, to.y + 40, { steps: 2 })
    await page.mouse.up()
    await untilTitles('r4 r1 r2 r3')
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    await card('r4').focus()
    await page.keyboard.press('ControlOrMeta+ArrowRight')
    await untilTitles('r1 r4 r2 r3')
    // The keyboard went with it.
    await page.locator('[data-index="1"]:focus', { hasText: 'r4' }).waitFor()
    await eventually(
      async () => grid.writes().length,
      (now) => now === 2,
    )
    // The gallery keeps the order for itself.
    const { rows } = await tests
      .app()
      .trpc(tests.owner().token)
      .records.list.query({
        query: {
          tableId: table.tableId,
          fieldIds: [table.schema.fields.find(({ isDisplay }) => isDisplay)?.id ?? ''],
          limit: 9,
          offset: 0,
        },
      })
    expect(rows.flat()).toEqual(['r1', 'r2', 'r3', 'r4'])
    await page.reload()
    await untilTitles('r1 r4 r2 r3')
    grid.calls.length = 0

    await card('r2').click({ modifiers: ['ControlOrMeta'] })
    await card('r3').click({ modifiers: ['Shift'] })
    const bar = page.getByTestId('bulk-bar')
    await bar.getByText('2 records selected').waitFor()
    await bar.getByRole('button', { name: 'Delete' }).click()
    await untilTitles('r1 r4')
    await page.keyboard.press('ControlOrMeta+z')
    await untilTitles('r1 r4 r2 r3')

    const title = table.schema.fields.find((field) => field.title === 'Title')?.id ?? ''
    await tests
      .app()
      .trpc(tests.owner().token)
      .records.write.mutate({
        change: {
          baseId: table.baseId,
          operations: [
            { kind: 'update', tableId: table.tableId, rows: [{ id: 1, values: { [title]: 'theirs' } }] },
          ],
        },
      })
    await card('theirs').waitFor()
    await card('theirs').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await untilTitles('theirs theirs r4 r2 r3')
  })

  test('holds 5,000 cards in a few elements, and says what keeps records from showing', async () => {
    const { page, card, grid } = await openGallery(letters(5000))
    await untilCount(grid, '5,000 records')
    await page.getByTestId('gallery').evaluate((box) => box.scrollTo({ top: box.scrollHeight }))
    await card('r5000').waitFor()
    expect(await page.getByTestId('gallery-card').count()).toBeLessThan(60)
    await page.keyboard.press('ControlOrMeta+f')
    await page.keyboard.type('nothing like it')
    await page.getByText('No matching records').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await card('r1').first().waitFor()
    // The search goes from hit to hit as well, with all other cards in sight.
    await page.getByTestId('search-input').fill('r4999')
    await page.getByTestId('search-filters').click()
    await card('r4999').waitFor()
    await card('r4998').waitFor()
  })

  test('lets a viewer look, and leaves out what they may not do', async () => {
    const { table, view } = await openGallery(letters(3))
    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const { page, card } = await show(table, view, viewer)
    expect(await page.getByTestId('gallery-add').count()).toBe(0)
    expect(await page.getByTestId('add-record').count()).toBe(0)
    await card('r2').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy record link' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Delete record' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await card('r2').click()
    await page.getByTestId('record-panel').waitFor()
  })
})

/** The table that an address of the app names. */
function tableOf(url: string): { tableId: string } {
  return { tableId: url.split('/nc/')[1]?.split('/')[1] ?? '' }
}
