import type { RecordChange } from '../../../src/core/changes.ts'
import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { GridRow } from '../../grid/contract.ts'
import { orderOf } from '../record-order.ts'
import type { Columns } from '../types.ts'
import { type Paging, type PagingDeps, readLoadedRange } from './paging.ts'
import type { RowRange } from './segments.ts'
import type { StackKey, StackTotals } from './stack-by.ts'
import type { LoadedStack, LoadedStacks, StacksState } from './stacks-state.ts'

/** Cards per request. */
const CARD_PAGE = 50

/** Parallel requests for further cards. */
const PARALLEL = 3

/** Changes of others within this time are followed by one read. */
const REFRESH_MS = 120

/** Counts and summaries of all stacks, by key in the server's order. */
export interface KanbanTotals {
  stacks: ReadonlyMap<StackKey, StackTotals>
  /** The summary shown by each stack, as `summaryId` of stacks-layout.ts names it. */
  summaryId: string
  /** True if there are more stacks than listed. */
  hasMore: boolean
}

interface StackReads {
  /** The part of a selection that limits it to a stack. */
  group(key: StackKey): NonNullable<Selection['group']>
  /** The stacks of a selection. */
  totals(selection: Selection, signal: AbortSignal): Promise<KanbanTotals>
  onTotals(totals: KanbanTotals): void
  keyFieldId: string
  keyOf(row: Pick<GridRow, 'values'>): StackKey
}

export type StacksPaging = ReturnType<typeof createStacksPaging>

/**
 * Reads the visible cards, a page of one stack per request, and the counts of all stacks. A response older than a
 * change on screen is discarded.
 */
export function createStacksPaging(stacks: StacksState, reads: StackReads, deps: Omit<PagingDeps, 'state'>) {
  const { state, loaded } = stacks
  const { api, tableId } = deps
  /** Visible rows of the stacks on screen. */
  const visible = new Map<StackKey, RowRange>()
  const running = new Map<LoadedStack, AbortController>()
  let columns: Columns = new Map()
  let reading: AbortController | null = null
  let isStarted = false
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Stacks to read again. */
  let stale: Set<StackKey> | 'all' | null = null
  /** True while a read of counts and summaries is postponed. */
  let areTotalsDue = false

  const selection = (): Selection => {
    const { filter, search } = deps.query()
    return { tableId, filter, search }
  }

  function columnsOf(fieldIds: readonly string[]): Columns {
    if (columns.size !== fieldIds.length || fieldIds.some((id, at) => columns.get(id) !== at))
      columns = new Map(fieldIds.map((id, at) => [id, at]))
    return columns
  }

  function list(stack: LoadedStack, range: RowRange, signal: AbortSignal): Promise<RecordPage> {
    const { fieldIds } = deps.query()
    let local = 0
    for (const id of state.rows.drafts.keys())
      if ((stack.segments.indexOf(id) ?? range.first) < range.first) local++
    const page = { limit: range.last - range.first + 1, offset: Math.max(0, range.first - local) }
    const order = orderOf(deps.query())
    const query = { ...selection(), fieldIds: [...fieldIds], ...order, group: reads.group(stack.key) }
    return api.list({ ...query, ...page }, signal)
  }

  function gapOf(stack: LoadedStack): RowRange | undefined {
    const range = visible.get(stack.key)
    if (!range || (stack.count !== null && range.first >= stack.count)) return undefined
    // Reads ahead of the scroll position.
    const last = range.last + CARD_PAGE / 2
    const most = stack.count === null ? last : Math.min(last, stack.count - 1)
    const [gap] = stack.segments.gaps({ first: Math.max(0, range.first), last: most })
    return gap && { first: gap.first, last: Math.min(gap.last, gap.first + CARD_PAGE - 1) }
  }

  function pump(): void {
    if (!isStarted || reading) return
    for (const key of visible.keys()) {
      const stack = loaded.stack(key)
      const gap = running.has(stack) ? undefined : gapOf(stack)
      if (gap && running.size < PARALLEL) void load(stack, gap)
    }
  }

  async function load(stack: LoadedStack, { first }: RowRange): Promise<void> {
    const controller = new AbortController()
    const { shape } = stack
    const askedAt = state.rows.now()
    running.set(stack, controller)
    try {
      const range = { first, last: first + CARD_PAGE - 1 }
      const page = await list(stack, range, controller.signal)
      if (controller.signal.aborted) return
      if (stack.shape === shape) {
        putPage(stacks, reads.keyOf, stack, { page, range, columns: columnsOf(page.fieldIds), askedAt })
      }
      deps.onError(null)
    } catch (error) {
      // Stays in `running`, so that a failing stack is not requested in a loop.
      if (!controller.signal.aborted) deps.onError(error)
      return
    }
    // The next response would leave the same gap: reload everything, and load nothing for this stack until then.
    const isStuck = stack.shape === shape && gapOf(stack)?.first === first
    if (!isStuck) running.delete(stack)
    if (isStuck || !deps.mayRefresh()) refreshSoon()
    pump()
  }

  /** The first cards of a reload: those visible, or the top. */
  const firstRange = (key: StackKey): RowRange => {
    const { first, last } = visible.get(key) ?? { first: 0, last: 0 }
    const start = Math.max(0, first - 5)
    return { first: start, last: Math.max(start + CARD_PAGE, last + 10) - 1 }
  }

  function stopLoading(): void {
    for (const controller of running.values()) controller.abort()
    running.clear()
  }

  /** Reads the visible cards again; the old ones stay on screen until all new ones have arrived. */
  async function reload(): Promise<void> {
    clearTimeout(timer)
    const scope = isStarted ? (stale ?? 'all') : 'all'
    stale = null
    isStarted = true
    reading?.abort()
    stopLoading()
    const controller = new AbortController()
    reading = controller
    const targets = [...visible.keys()].filter((key) => scope === 'all' || scope.has(key)).map(loaded.stack)
    const shapes = loaded.all().map((stack) => [stack, stack.shape] as const)
    const askedAt = state.rows.now()
    try {
      const [totals, ...pages] = await Promise.all([
        reads.totals(selection(), controller.signal),
        ...targets.map((stack) => list(stack, firstRange(stack.key), controller.signal)),
      ])
      if (controller.signal.aborted) return
      reading = null
      // A card was moved during the request: the screen is newer than the response.
      if (shapes.some(([stack, shape]) => stack.shape !== shape)) return refreshAgain(scope)
      for (const [at, stack] of targets.entries()) {
        const page = pages[at]
        if (!page) continue
        const range = firstRange(stack.key)
        replaceStack(stacks, reads.keyOf, stack, { page, range, columns: columnsOf(page.fieldIds), askedAt })
      }
      forgetUndrawn(scope, targets)
      applyTotals(totals)
      deps.onError(null)
      if (!deps.mayRefresh()) refreshSoon()
      if (areTotalsDue) void readTotals()
      pump()
    } catch (error) {
      if (controller.signal.aborted) return
      reading = null
      deps.onError(error)
    }
  }

  function refreshAgain(scope: Set<StackKey> | 'all'): void {
    stale = scope === 'all' || stale === 'all' ? 'all' : new Set([...scope, ...(stale ?? [])])
    schedule()
  }

  /** Forgets the cards of stacks off screen; they are read again when drawn. */
  function forgetUndrawn(scope: Set<StackKey> | 'all', targets: readonly LoadedStack[]): void {
    for (const stack of loaded.all()) {
      if (targets.includes(stack) || (scope !== 'all' && !scope.has(stack.key))) continue
      state.rows.forget(loaded.clear(stack))
    }
  }

  function applyTotals(totals: KanbanTotals): void {
    for (const key of totals.stacks.keys()) loaded.stack(key)
    for (const stack of loaded.all()) {
      const count = totals.stacks.get(stack.key)?.count ?? 0
      const drafts = stack.segments.ids().filter((id) => state.rows.drafts.has(id)).length
      if (stack.count === count + drafts) continue
      stack.count = count + drafts
      loaded.changed(stack)
    }
    reads.onTotals(totals)
    state.structureChanged()
  }

  /** Reads counts and summaries only, after values changed without moving cards. */
  async function readTotals(): Promise<void> {
    areTotalsDue = reading !== null || stale !== null || !deps.mayRefresh()
    if (areTotalsDue) return
    const controller = new AbortController()
    const shapes = loaded.all().map((stack) => [stack, stack.shape] as const)
    try {
      const totals = await reads.totals(selection(), controller.signal)
      if (reading || shapes.some(([stack, shape]) => stack.shape !== shape)) return
      applyTotals(totals)
    } catch (error) {
      deps.onError(error)
    }
  }

  function schedule(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (stale && deps.mayRefresh()) void reload()
    }, REFRESH_MS)
  }

  function refreshSoon(touched?: readonly RecordChange[]): void {
    const keys = touched && touchedStacks(loaded, reads, touched)
    if (!keys || stale === 'all') stale = 'all'
    else stale = new Set([...(stale ?? []), ...keys])
    schedule()
  }

  const paging: Paging = {
    reload: () => {
      stale = 'all'
      return reload()
    },
    refreshSoon,
    refreshIfStale: () => {
      if (stale) schedule()
      else if (areTotalsDue) void readTotals()
    },
    columns: () => columns,
    visibleIds: () =>
      [...visible].flatMap(([key, { first, last }]) => {
        const ids: RecordId[] = []
        for (let index = Math.max(0, first); index <= last; index++) {
          const id = loaded.stack(key).segments.idAt(index)
          if (id !== undefined) ids.push(id)
        }
        return ids
      }),
    // Stacks request their cards by `setVisible`.
    requestRange: () => {},
    // Outdated responses are recognised by `LoadedStack.shape`.
    restart: () => pump(),
    stop() {
      clearTimeout(timer)
      reading?.abort()
      stopLoading()
    },
    readRange: (request) => readLoadedRange(deps, request, state),
  }

  return {
    paging,
    readTotals,

    /** Sets the cards of a stack that are, or will soon be, visible, and reads the missing ones. */
    setVisible(key: StackKey, range: RowRange): void {
      visible.set(key, range)
      pump()
    },

    /** Call when the stack is off screen. */
    setHidden: (key: StackKey): void => void visible.delete(key),

    /** Reads again after an error. */
    retry(): void {
      stopLoading()
      void paging.reload()
    },
  }
}

/** The stacks that records left and entered; undefined if unknown. */
function touchedStacks(
  loaded: Pick<LoadedStacks, 'stackOf'>,
  { keyFieldId, keyOf }: Pick<StackReads, 'keyFieldId' | 'keyOf'>,
  touched: readonly RecordChange[],
): Set<StackKey> | undefined {
  const keys = new Set<StackKey>()
  for (const { recordId, before, after } of touched) {
    const stack = loaded.stackOf(recordId)
    if (stack) keys.add(stack.key)
    const sides = [before, after].filter((values) => values && keyFieldId in values)
    for (const values of sides) keys.add(keyOf({ values: (id) => values?.[id] ?? null }))
    if (!stack && sides.length === 0) return undefined
  }
  return keys
}

/** Cards of a stack kept in memory. */
const MAX_CARDS = 3000

interface CardPage {
  page: RecordPage
  range: RowRange
  columns: Columns
  /** `rows.now()` at the request. */
  askedAt: number
}

type KeyOf = (row: GridRow) => StackKey

/** Stores a page of a stack. Cards that moved to another stack since the request stay there. */
function putPage(
  { state, loaded }: StacksState,
  keyOf: KeyOf,
  stack: LoadedStack,
  { page, range, columns, askedAt }: CardPage,
): void {
  const { rows } = state
  const wasLane = page.ids.map((id) => loaded.stackOf(id))
  for (const [at, id] of page.ids.entries()) rows.store(id, columns, page.rows[at] ?? [], askedAt)
  const ids = page.ids.filter((id, at) => {
    const row = rows.row(id)
    return row && (keyOf(row) === stack.key || wasLane[at] === undefined || wasLane[at] === stack)
  })
  const dropped = loaded.put(stack, range.first, ids)
  const end = range.first + page.ids.length
  if (page.ids.length < range.last - range.first + 1 && (page.ids.length > 0 || range.first === 0))
    stack.count = Math.max(end, stack.segments.end)
  const isPinned = (id: string | number) => rows.drafts.has(id) || rows.edits.has(id)
  rows.forget([...dropped, ...loaded.evict(stack, MAX_CARDS, range, isPinned)])
  loaded.changed(stack)
  // Redraws cards that were loaded before, with the new values and fields.
  for (const id of ids) {
    const row = rows.row(id)
    if (row && keyOf(row) === stack.key) state.rowChanged(id)
  }
}

/** Replaces all loaded cards of a stack by a page; drafts go to its end. */
function replaceStack(stacks: StacksState, keyOf: KeyOf, stack: LoadedStack, answer: CardPage): void {
  const { state, loaded } = stacks
  const { rows } = state
  const before = loaded.clear(stack)
  rows.forget(before.filter((id) => !answer.page.ids.includes(id) && !rows.drafts.has(id)))
  for (const id of before) rows.unmatched.delete(id)
  putPage(stacks, keyOf, stack, answer)
  const drafts = [...rows.drafts.keys()].filter((id) => {
    const row = rows.row(id)
    return loaded.stackOf(id) === undefined && row !== undefined && keyOf(row) === stack.key
  })
  if (drafts.length > 0) loaded.insert(stack, loaded.length(stack), drafts)
}
