import type { RecordChange } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { GridRow } from '../../grid/contract.ts'
import { orderOf, selectionOf } from '../record-order.ts'
import { createPager, createSharedColumns, type Pager, type PagerDeps, type PageScheme } from './pager.ts'
import { createRefresh, type Paging, type PagingDeps, readLoadedRange } from './paging.ts'
import type { RowRange } from './segments.ts'
import type { StackKey, StackTotals } from './stack-by.ts'
import type { LoadedStack, LoadedStacks, StacksState } from './stacks-state.ts'

/** Cards per request. */
const CARD_PAGE = 50

/** Reads one page at a time, from the first missing card on, with half a page ahead. */
const CARDS: PageScheme = {
  size: CARD_PAGE,
  parallel: 1,
  maxRows: 3000,
  requests({ first, last }, _direction, gaps) {
    const [gap] = gaps({ first, last: last + CARD_PAGE / 2 })
    return gap ? [{ first: gap.first, last: gap.first + CARD_PAGE - 1 }] : []
  },
  firstPage(visible) {
    const first = Math.max(0, (visible?.first ?? 0) - 5)
    return { first, last: Math.max(first + CARD_PAGE, (visible?.last ?? 0) + 10) - 1 }
  },
}

/** Stacks that load further cards at the same time. */
const PARALLEL = 3

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
  /** A pager per stack that has been on screen. */
  const pagers = new Map<StackKey, Pager>()
  const columns = createSharedColumns()
  let reading: AbortController | null = null
  let isStarted = false
  /** Stacks to read again. */
  let stale: Set<StackKey> | 'all' | null = null
  /** True while a read of counts and summaries is postponed. */
  let areTotalsDue = false

  const refresh = createRefresh(
    // A read that is running schedules the next one itself.
    () => stale !== null && reading === null && deps.mayRefresh(),
    () => void reload(),
  )

  const selection = (): Selection => selectionOf(tableId, deps.query())

  function pagerOf(key: StackKey): Pager {
    const known = pagers.get(key)
    if (known) return known
    const created = createPager({
      ...stackRows(stacks, reads.keyOf, loaded.stack(key)),
      rows: state.rows,
      columns,
      scheme: CARDS,
      query: () => ({
        ...selection(),
        fieldIds: [...deps.query().fieldIds],
        ...orderOf(deps.query()),
        group: reads.group(key),
      }),
      read: (query, _range, signal) => api.list(query, signal),
      mayLoad: () =>
        isStarted && !reading && [...pagers.values()].filter((each) => each.isBusy()).length < PARALLEL,
      onLoad(isStuck) {
        if (isStuck || !deps.mayRefresh()) refreshSoon()
        pump()
      },
      onError: deps.onError,
    })
    pagers.set(key, created)
    return created
  }

  function pump(): void {
    for (const pager of pagers.values()) pager.pump()
  }

  function stopLoading(): void {
    for (const pager of pagers.values()) pager.stop()
  }

  /** Reads the visible cards again; the old ones stay on screen until all new ones have arrived. */
  async function reload(): Promise<void> {
    refresh.cancel()
    const scope = isStarted ? (stale ?? 'all') : 'all'
    stale = deps.isSettled() ? null : scope
    isStarted = true
    reading?.abort()
    stopLoading()
    const controller = new AbortController()
    reading = controller
    const targets = [...pagers].filter(
      ([key, pager]) => pager.isShown() && (scope === 'all' || scope.has(key)),
    )
    const shapes = loaded.all().map((stack) => [stack, stack.shape] as const)
    try {
      const [totals, ...pages] = await Promise.all([
        reads.totals(selection(), controller.signal),
        ...targets.map(([, pager]) => pager.readAgain(controller.signal)),
      ])
      if (controller.signal.aborted) return
      reading = null
      // A card was moved during the request: the screen is newer than the response.
      if (shapes.some(([stack, shape]) => stack.shape !== shape)) return refreshAgain(scope)
      for (const [at, [, pager]] of targets.entries()) {
        const page = pages[at]
        if (page) pager.replace(page)
      }
      forgetUndrawn(scope, new Set(targets.map(([key]) => key)))
      applyTotals(totals)
      deps.onError(null)
      if (!deps.mayRefresh()) refreshSoon()
      else if (stale !== null) refresh.schedule()
      if (areTotalsDue) void readTotals()
      pump()
    } catch (error) {
      if (controller.signal.aborted) return
      reading = null
      deps.onError(error)
      if (stale !== null) refresh.schedule()
    }
  }

  function refreshAgain(scope: Set<StackKey> | 'all'): void {
    stale = scope === 'all' || stale === 'all' ? 'all' : new Set([...scope, ...(stale ?? [])])
    refresh.schedule()
  }

  /** Forgets the cards of stacks off screen; they are read again when drawn. */
  function forgetUndrawn(scope: Set<StackKey> | 'all', read: ReadonlySet<StackKey>): void {
    for (const stack of loaded.all()) {
      if (read.has(stack.key) || (scope !== 'all' && !scope.has(stack.key))) continue
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

  function refreshSoon(touched?: readonly RecordChange[]): void {
    const keys = touched && touchedStacks(loaded, reads, touched)
    refreshAgain(keys ?? 'all')
  }

  const paging: Paging = {
    reload: () => {
      stale = 'all'
      return reload()
    },
    refreshSoon,
    refreshIfStale: () => {
      if (stale) refresh.schedule()
      else if (areTotalsDue) void readTotals()
    },
    columns: columns.current,
    visibleIds: () => [...pagers.values()].flatMap((pager) => pager.visibleIds()),
    // Stacks request their cards by `setVisible`.
    requestRange: () => {},
    // Outdated responses are recognised by `LoadedStack.shape`.
    restart: pump,
    stop() {
      refresh.cancel()
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
      pagerOf(key).setVisible(range)
    },

    /** Call when the stack is off screen. */
    setHidden: (key: StackKey): void => pagers.get(key)?.hide(),

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

/** The cards of a stack as the list of a pager. */
function stackRows(
  { state, loaded }: StacksState,
  keyOf: (row: GridRow) => StackKey,
  stack: LoadedStack,
): Pick<PagerDeps, 'list' | 'put' | 'evict' | 'clear' | 'addDrafts' | 'redraw'> {
  const { rows } = state
  const isOwn = (id: RecordId): boolean => {
    const row = rows.row(id)
    return row !== undefined && keyOf(row) === stack.key
  }
  return {
    list: stack,
    put(start, ids) {
      // Cards that moved to another stack since the request stay there.
      const mayEnter = (id: RecordId) => (loaded.stackOf(id) ?? stack) === stack || isOwn(id)
      return loaded.put(stack, start, ids.filter(mayEnter))
    },
    evict: (...limits) => loaded.evict(stack, ...limits),
    clear(next) {
      const before = loaded.clear(stack)
      rows.forget(before.filter((id) => !next.includes(id) && !rows.drafts.has(id)))
      for (const id of before) rows.unmatched.delete(id)
    },
    addDrafts() {
      const drafts = [...rows.drafts.keys()].filter((id) => loaded.stackOf(id) === undefined && isOwn(id))
      loaded.insert(stack, loaded.length(stack), drafts)
    },
    redraw(ids) {
      loaded.changed(stack)
      // Cards that were loaded before have new values and fields.
      for (const id of ids) if (isOwn(id)) state.rowChanged(id)
    },
  }
}
