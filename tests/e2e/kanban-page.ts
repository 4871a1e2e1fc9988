import type { Browser, Locator, Page } from 'playwright-core'
import type { KanbanOptions } from '../../src/core/views/index.ts'
import type { TestUser } from '../support/app.ts'
import {
  AFTER_DRAG_MS,
  eventually,
  type gridTests,
  type OpenTable,
  textOf,
  untilDraggable,
} from './grid-page.ts'

/** A table with a kanban. */
export interface OpenKanbanTable extends OpenTable {
  viewId: string
  fieldId: (title: string) => string
}

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  {
    title: 'Status',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Todo' }, { title: 'Doing' }, { title: 'Done' }] },
  },
  { title: 'Points', type: 'Number' as const },
]

/** A table of these cards and a kanban of it: `['a Todo 3', 'b Done']`; one word is of no stack. */
export async function createKanbanTable(
  tests: ReturnType<typeof gridTests>,
  cards: readonly string[],
  options: Partial<KanbanOptions> = {},
): Promise<OpenKanbanTable> {
  const rows = cards.map((card) => {
    const [title = '', status, points] = card.split(' ')
    return [title, status ?? null, points === undefined ? null : Number(points)]
  })
  const table = await tests.createTable(FIELDS, rows)
  const fieldId = (title: string) => table.schema.fields.find((field) => field.title === title)?.id ?? title
  const view = await tests
    .app()
    .trpc(tests.owner().token)
    .views.create.mutate({
      tableId: table.tableId,
      title: 'Board',
      kind: 'kanban',
      options: { stackFieldId: fieldId('Status'), ...options },
    })
  return { ...table, viewId: view.id, fieldId }
}

export type KanbanPage = Awaited<ReturnType<typeof openKanban>>

/** Opens a kanban in a browser of its own. */
export async function openKanban(
  tests: ReturnType<typeof gridTests>,
  table: OpenKanbanTable,
  user?: TestUser,
  context?: Parameters<Browser['newContext']>[0],
) {
  const prepare = async (page: Page) => {
    // All stacks in sight.
    if (!context?.viewport) await page.setViewportSize({ width: 1700, height: 900 })
  }
  const grid = await tests.openTable(table, user, context, { viewId: table.viewId, prepare })
  const { page } = grid
  await page.getByTestId('kanban-stack').or(page.getByTestId('kanban-choose')).first().waitFor()
  await page.getByTestId('card-bone').first().waitFor({ state: 'detached' })
  grid.calls.length = 0
  return { ...grid, ...partsOf(page) }
}

function partsOf(page: Page) {
  const stack = (key: string | null) => page.locator(`[data-stack='${JSON.stringify(key)}']`)
  const titles = (key: string | null): Promise<string> =>
    stack(key)
      .getByTestId('kanban-card')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')?.split(', ')[0]).join(' '))
  return {
    stack,
    titles,
    card: (title: string) =>
      page.locator(`[data-testid="kanban-card"]:is([aria-label="${title}"], [aria-label^="${title}, "])`),
    count: (key: string | null) => textOf(stack(key).getByTestId('stack-count')),
    /** Waits for a stack to hold these cards and gives what it holds. */
    until: (key: string | null, wanted: string) =>
      eventually(
        () => titles(key),
        (now) => now === wanted,
      ),
    /** The names of the stacks in the order of the screen. */
    stacks: () =>
      page
        .getByTestId('kanban-stack')
        .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? '')),
  }
}

/** Drags something to a place of something else: above or below its middle. */
export async function drag(
  page: Page,
  from: Locator,
  to: Locator,
  where: 'above' | 'below' = 'above',
): Promise<void> {
  await untilDraggable(page)
  const [start, end] = await Promise.all([from.boundingBox(), to.boundingBox()])
  if (!start || !end) throw new Error('there is nothing to drag')
  await page.mouse.move(start.x + 40, start.y + 14)
  await page.mouse.down()
  await page.mouse.move(start.x + 60, start.y + 24, { steps: 3 })
  await page.mouse.move(end.x + 60, where === 'above' ? end.y + 4 : end.y + end.height - 4, { steps: 6 })
  // Two frames: places are measured once in each.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  await page.mouse.up()
  await Bun.sleep(AFTER_DRAG_MS)
}
