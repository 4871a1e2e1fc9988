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

/** Cards that one request reads at most. */
const CARD_PAGE = 50

/** Requests for further cards under way at one time. */
const PARALLEL = 3

/** A burst of changes from elsewhere is answered with one reading. */
const REFRESH_MS = 120

/** Totals of all stacks by key, in the server's order. */
export interface KanbanTotals {
  stacks: ReadonlyMap<StackKey, StackTotals>
  /** The summary that is told of each, as `summaryId` names it. */
  summaryId: string
  /** True where there are more stacks than are listed. */
  hasMore: boolean
}

interface StackReads {
  /** The records of a stack among those of a selection. */
  group(key: StackKey): NonNullable<Selection['group']>
  /** The stacks of a selection. */
  totals(selection: Selection, signal: AbortSignal): Promise<KanbanTotals>
  onTotals(totals: KanbanTotals): void
  keyFieldId: string
  keyOf(row: Pick<GridRow, 'values'>): StackKey
}

export type StacksPaging = ReturnType<typeof createStacksPaging>

/**
 * Reads the cards of stacks as they come in sight, a page of one stack for each request, and how many there are
 * of each. What changes meanwhile wins over an answer that does not know of it.
 */
export function createStacksPaging(stacks: StacksState, reads: StackReads, deps: Omit<PagingDeps, 'state'>) {
  const { state, loaded } = stacks
  const { api, tableId } = deps
  /** Rows in sight of the stacks that are drawn. */
  const wanted = new Map<StackKey, RowRange>()
  const running = new Map<LoadedStack, AbortController>()
  let columns: Columns = new Map()
  let reading: AbortController | null = null
  let isStarted = false
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Stacks that may hold other cards by now; `all`: any. */
  let stale: Set<StackKey> | 'all' | null = null
  /** True where counts and summaries are to be read again, and could not be yet. */
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
    const range = wanted.get(stack.key)
    if (!range || (stack.count !== null && range.first >= stack.count)) return undefined
    // A page ahead, so that the next one is there when it is needed.
    const last = range.last + CARD_PAGE / 2
    const most = stack.count === null ? last : Math.min(last, stack.count - 1)
    const [gap] = stack.segments.gaps({ first: Math.max(0, range.first), last: most })
    return gap && { first: gap.first, last: Math.min(gap.last, gap.first + CARD_PAGE - 1) }
  }

  function pump(): void {
    if (!isStarted || reading) return
    for (const key of wanted.keys()) {
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
      // Left among those under way, so that a stack that fails is not asked for in a loop.
      if (!controller.signal.aborted) deps.onError(error)
      return
    }
    // The next answer would leave the same gap: reload everything, and load nothing for this stack until then.
    const isStuck = stack.shape === shape && gapOf(stack)?.first === first
    if (!isStuck) running.delete(stack)
    if (isStuck || !deps.mayRefresh()) refreshSoon()
    pump()
  }

  /** The cards to begin with: those in sight, or the top. */
  const firstRange = (key: StackKey): RowRange => {
    const { first, last } = wanted.get(key) ?? { first: 0, last: 0 }
    const start = Math.max(0, first - 5)
    return { first: start, last: Math.max(start + CARD_PAGE, last + 10) - 1 }
  }

  function stopLoading(): void {
    for (const controller of running.values()) controller.abort()
    running.clear()
  }

  /** Reads what is in sight anew; the old cards stay on the screen until all new ones are here. */
  async function reload(): Promise<void> {
    clearTimeout(timer)
    const of = isStarted ? (stale ?? 'all') : 'all'
    stale = null
    isStarted = true
    reading?.abort()
    stopLoading()
    const controller = new AbortController()
    reading = controller
    const targets = [...wanted.keys()].filter((key) => of === 'all' || of.has(key)).map(loaded.stack)
    const shapes = loaded.all().map((stack) => [stack, stack.shape] as const)
    const askedAt = state.rows.now()
    try {
      const [totals, ...pages] = await Promise.all([
        reads.totals(selection(), controller.signal),
        ...targets.map((stack) => list(stack, firstRange(stack.key), controller.signal)),
      ])
      if (controller.signal.aborted) return
      reading = null
      // Somebody moved a card meanwhile: what is on the screen is newer than the answer.
      if (shapes.some(([stack, shape]) => stack.shape !== shape)) return refreshAgain(of)
      for (const [at, stack] of targets.entries()) {
        const page = pages[at]
        if (!page) continue
        const range = firstRange(stack.key)
        replaceStack(stacks, reads.keyOf, stack, { page, range, columns: columnsOf(page.fieldIds), askedAt })
      }
      forgetOthers(of, targets)
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

  function refreshAgain(of: Set<StackKey> | 'all'): void {
    stale = of === 'all' || stale === 'all' ? 'all' : new Set([...of, ...(stale ?? [])])
    schedule()
  }

  /** Stacks that are not drawn at present are read when they are. */
  function forgetOthers(of: Set<StackKey> | 'all', targets: readonly LoadedStack[]): void {
    for (const stack of loaded.all()) {
      if (targets.includes(stack) || (of !== 'all' && !of.has(stack.key))) continue
      state.rows.forget(loaded.clear(stack))
    }
  }

  function applyTotals(totals: KanbanTotals): void {
    for (const key of totals.stacks.keys()) loaded.stack(key)
    for (const stack of loaded.all()) {
      const told = totals.stacks.get(stack.key)?.count ?? 0
      const drafts = stack.segments.ids().filter((id) => state.rows.drafts.has(id)).length
      if (stack.count === told + drafts) continue
      stack.count = told + drafts
      loaded.changed(stack)
    }
    reads.onTotals(totals)
    state.structureChanged()
  }

  /** Counts and summaries alone: values changed, and no card its place. */
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
    inSight: () =>
      [...wanted].flatMap(([key, { first, last }]) => {
        const ids: RecordId[] = []
        for (let index = Math.max(0, first); index <= last; index++) {
          const id = loaded.stack(key).segments.idAt(index)
          if (id !== undefined) ids.push(id)
        }
        return ids
      }),
    // Stacks ask for their own cards, by `want`.
    requestRange: () => {},
    // An answer that is out of date is known by the shape of its stack.
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

    /** These cards of a stack are or will soon be in sight. */
    want(key: StackKey, range: RowRange): void {
      wanted.set(key, range)
      pump()
    },

    /** The stack is not drawn any more. */
    leave: (key: StackKey): void => void wanted.delete(key),

    /** Reads again what could not be read. */
    retry(): void {
      stopLoading()
      void paging.reload()
    },
  }
}

/** The stacks that records were in and are in; undefined where that cannot be told. */
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

/** Cards of a stack that are kept at most, however far one scrolls. */
const MAX_CARDS = 3000

interface Answer {
  page: RecordPage
  range: RowRange
  columns: Columns
  /** The moment it was asked for, as `rows.now` told it. */
  askedAt: number
}

type KeyOf = (row: GridRow) => StackKey

/** Puts a page of a stack in its place. Cards that left the stack since it was read stay where they are. */
function putPage(
  { state, loaded }: StacksState,
  keyOf: KeyOf,
  stack: LoadedStack,
  { page, range, columns, askedAt }: Answer,
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
  // A card that stood here before draws what was read anew: fields that are shown by now, other values.
  for (const id of ids) {
    const row = rows.row(id)
    if (row && keyOf(row) === stack.key) state.rowChanged(id)
  }
}

/** Puts a page in the place of all that is known of a stack; records not made yet go to its end. */
function replaceStack(stacks: StacksState, keyOf: KeyOf, stack: LoadedStack, answer: Answer): void {
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
