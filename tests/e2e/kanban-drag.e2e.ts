import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { dragAtOnce } from './drag-at-once.ts'
import { eventually, gridTests, restingBox, untilDraggable } from './grid-page.ts'
import { createKanbanTable, drag, openKanban } from './kanban-page.ts'

const tests = gridTests()

const CARDS = ['a Todo', 'b Todo', 'c Done', 'd', 'e Todo', 'f Done']
const MANY = Array.from({ length: 60 }, (_, at) => `r${at} ${at < 40 ? 'Todo' : 'Done'}`)

interface Point {
  x: number
  y: number
}

/** A point on an element, once it has stopped moving. */
async function pointOn(locator: Locator): Promise<Point> {
  const box = await restingBox(locator)
  return { x: box.x + 40, y: box.y + 14 }
}

async function press(page: Page, { x, y }: Point): Promise<void> {
  await untilDraggable(page)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 10, y + 10, { steps: 3 })
  await page.getByTestId('dragged').waitFor()
}

describe('dragging in a kanban', () => {
  test('is cancelled by Escape, which closes and clears nothing else', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    await kanban.card('a').click({ modifiers: ['ControlOrMeta'] })
    await kanban.card('b').click({ modifiers: ['ControlOrMeta'] })
    await page.getByText('2 records selected').waitFor()
    await press(page, await pointOn(kanban.card('b')))
    expect(await page.getByTestId('dragged').getAttribute('data-count')).toBe('2')
    const target = await pointOn(kanban.card('f'))
    await page.mouse.move(target.x, target.y, { steps: 4 })
    await page.getByTestId('drop-line').waitFor()
    await page.keyboard.press('Escape')
    await page.getByTestId('dragged').waitFor({ state: 'detached' })
    await page.mouse.up()
    expect(await page.getByTestId('drop-line').count()).toBe(0)
    expect([await kanban.titles('Todo'), await kanban.titles('Done')]).toEqual(['a b e', 'c f'])
    await page.getByText('2 records selected').waitFor()
    // dnd-kit swallows clicks for 50 ms after a drag.
    await page.waitForTimeout(100)
    await kanban.card('d').click()
    const panel = page.getByTestId('record-panel')
    await panel.getByRole('heading', { name: 'd' }).waitFor()
    await press(page, await pointOn(kanban.card('d')))
    await page.keyboard.press('Escape')
    await page.getByTestId('dragged').waitFor({ state: 'detached' })
    await page.mouse.up()
    expect(await panel.count()).toBe(1)
    expect(kanban.writes()).toEqual([])
  })

  test('opens no card when it ends, and says why a card cannot be dropped', async () => {
    const table = await createKanbanTable(tests, CARDS)
    await tests
      .app()
      .trpc(tests.owner().token)
      .schema.updateField.mutate({
        fieldId: table.fieldId('Status'),
        patch: { required: true },
      })
    const kanban = await openKanban(tests, table)
    const { page } = kanban
    await press(page, await pointOn(kanban.card('a')))
    const empty = await pointOn(kanban.stack(null))
    await page.mouse.move(empty.x, empty.y + 60, { steps: 4 })
    await page.getByTestId('dragged').getByText('Status needs a value').waitFor()
    expect(await page.getByTestId('drop-line').count()).toBe(0)
    await page.mouse.up()
    expect(await kanban.titles('Todo')).toBe('a b e')
    await drag(page, kanban.card('a'), kanban.card('b'), 'below')
    expect(await kanban.titles('Todo')).toBe('b a e')
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    await kanban.untilWritten(['records.write'])
  })

  test('starts by a press that comes before the scripts for it', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    const release = Promise.withResolvers<void>()
    await page.route('**/kanban-dragging*', async (route) => {
      await release.promise
      await route.continue()
    })
    await page.reload()
    await kanban.card('a').waitFor()
    const [from, to] = [await pointOn(kanban.card('a')), await pointOn(kanban.card('f'))]
    await page.mouse.move(from.x, from.y)
    await page.mouse.down()
    await page.mouse.move(from.x + 10, from.y + 10, { steps: 3 })
    expect(await page.getByTestId('dragged').count()).toBe(0)
    release.resolve()
    // Any move from here on starts the drag once the script is there.
    await eventually(
      async () => {
        await page.mouse.move(to.x + 1, to.y - 8)
        await page.mouse.move(to.x, to.y - 8)
        return page.getByTestId('drop-line').count()
      },
      (count) => count > 0,
    )
    await page.mouse.up()
    expect(await kanban.titles('Done')).toBe('c a f')
  })

  test('that ends before its start has been drawn still moves the card, once, unless it is cancelled', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
    const { page } = kanban
    await untilDraggable(page)
    const [from, to] = [await pointOn(kanban.card('a')), await pointOn(kanban.card('f'))]
    await dragAtOnce(page, { from, to: { x: to.x, y: to.y - 8 }, by: 'pointer', isCancelled: true })
    await page.evaluate(() => new Promise((done) => setTimeout(done, 100)))
    expect(await page.getByTestId('dragged').count()).toBe(0)
    expect(await page.getByTestId('drop-line').count()).toBe(0)
    expect(kanban.writes()).toEqual([])
    await dragAtOnce(page, { from, to: { x: to.x, y: to.y - 8 }, by: 'pointer' })
    expect(await kanban.until('Done', 'c a f')).toBe('c a f')
    await kanban.saved()
    await kanban.untilWritten(['records.write'])
    expect(await page.getByTestId('dragged').count()).toBe(0)
    expect(await page.getByTestId('drop-line').count()).toBe(0)
  })

  test('scrolls a long stack at its ends, and drops at the far end', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, MANY))
    const { page } = kanban
    const list = kanban.stack('Todo').locator('[data-cards]')
    const box = await list.boundingBox()
    if (!box) throw new Error('the stack is not visible')
    await press(page, await pointOn(kanban.card('r41')))
    await page.mouse.move(box.x + 60, box.y + box.height - 200, { steps: 4 })
    await page.mouse.move(box.x + 60, box.y + box.height - 6, { steps: 8 })
    const rest = () => list.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop)
    expect(await eventually(rest, (left) => left < 2)).toBeLessThan(2)
    await page.mouse.up()
    await kanban.card('r39').waitFor()
    expect((await kanban.titles('Todo')).split(' ').slice(-2)).toContain('r41')
    expect(await kanban.count('Todo')).toBe('41')
  })

  for (const direction of ['ltr', 'rtl'] as const) {
    test(`scrolls sideways to stacks out of sight (${direction})`, async () => {
      const kanban = await openKanban(tests, await createKanbanTable(tests, CARDS))
      const { page } = kanban
      await page.evaluate((dir) => {
        document.documentElement.dir = dir
      }, direction)
      await page.setViewportSize({ width: 800, height: 700 })
      const box = await page.getByTestId('kanban').boundingBox()
      if (!box) throw new Error('the kanban is not visible')
      await press(page, await pointOn(kanban.card('d')))
      const end = direction === 'rtl' ? box.x + 8 : box.x + box.width - 8
      await page.mouse.move(end, box.y + 90, { steps: 6 })
      const isVisible = async () => {
        const stack = await kanban.stack('Done').boundingBox()
        return stack !== null && stack.x >= box.x - 1 && stack.x + stack.width <= box.x + box.width + 1
      }
      expect(await eventually(isVisible, (yes) => yes)).toBe(true)
      const target = await pointOn(kanban.card('c'))
      await page.mouse.move(target.x, target.y, { steps: 3 })
      await page.mouse.up()
      expect(await kanban.until('Done', 'd c f')).toBe('d c f')
    })
  }

  test('moves cards and stacks by a long press of a finger, which scrolls otherwise', async () => {
    const kanban = await openKanban(tests, await createKanbanTable(tests, MANY), undefined, {
      viewport: { width: 1400, height: 700 },
      hasTouch: true,
    })
    const { page } = kanban
    const cdp = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', point?: Point) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints: point ? [point] : [] })
    async function move(from: Point, to: Point) {
      for (let step = 1; step <= 8; step++) {
        const at = (a: number, b: number) => Math.round(a + ((b - a) * step) / 8)
        await touch('touchMove', { x: at(from.x, to.x), y: at(from.y, to.y) })
        await Bun.sleep(20)
      }
    }
    await untilDraggable(page)
    const list = kanban.stack('Todo').locator('[data-cards]')
    const from = await pointOn(kanban.card('r3'))
    const above = { x: from.x, y: from.y - 30 }
    // Sent at once: a finger that moved only after an answer would rest on a busy machine.
    await Promise.all([touch('touchStart', from), touch('touchMove', above)])
    await move(above, { x: from.x, y: from.y - 150 })
    await touch('touchEnd')
    expect(
      await eventually(
        () => list.evaluate((one) => one.scrollTop),
        (top) => top > 50,
      ),
    ).toBeGreaterThan(50)
    expect(kanban.writes()).toEqual([])
    await list.evaluate((one) => {
      one.scrollTop = 0
    })
    const card = await pointOn(kanban.card('r2'))
    await touch('touchStart', card)
    await page.getByTestId('dragged').waitFor()
    const target = await pointOn(kanban.card('r0'))
    await move(card, { x: target.x, y: target.y - 8 })
    await touch('touchEnd')
    expect(
      await eventually(
        () => kanban.titles('Todo'),
        (now) => now.startsWith('r2 r0 r1'),
      ),
    ).toStartWith('r2 r0 r1')
    expect(await list.evaluate((one) => one.scrollTop)).toBe(0)
    expect(await page.getByTestId('record-panel').count()).toBe(0)
    const head = await pointOn(kanban.stack('Doing').getByTestId('stack-head'))
    await touch('touchStart', head)
    await page.getByTestId('dragged').waitFor()
    await move(head, await pointOn(kanban.stack('Todo').getByTestId('stack-head')))
    await touch('touchEnd')
    expect(await eventually(kanban.stacks, ([, second]) => second === 'Doing')).toEqual([
      'Uncategorised',
      'Doing',
      'Todo',
      'Done',
    ])
  })
})
