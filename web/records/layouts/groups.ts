import { hasGroupKey } from '../../../src/core/group-key.ts'
import type { Field, RecordId, Sort } from '../../../src/core/model.ts'
import { type GroupPage, type GroupRequest, MAX_GROUP_PAGE, type Query } from '../../../src/core/query.ts'
import {
  countIn,
  type GroupNode,
  type GroupTree,
  groupAt,
  type PlacedGroup,
  pathTo,
  placeOf,
  treeOf,
  withCount,
  withPage,
  withSummaries,
} from '../../grid/groups/tree.ts'
import { createStore, type Store } from '../../grid/store.ts'
import { timeZone } from '../../time-zone.ts'
import type { ValueOf } from '../record-order.ts'
import { selectionOf } from '../record-order.ts'
import type { StoreLayout } from '../record-store.ts'
import type { GroupsApi, StoreQuery } from '../types.ts'
import { createTableState, type TableState } from './list.ts'
import { createPaging, type PagingDeps } from './paging.ts'
import type { RowRange } from './segments.ts'

/** Groups read per request; further ones are read on scroll. */
const PAGE = 500

/** Most groups listed per level. */
const MAX_TREE = 20_000

/** Delay after the last edit of a burst before group headers are read again. */
const PAUSE_MS = 300

/** A list of rows, in groups if the query has any. */
export interface GroupedLayout extends StoreLayout {
  tree: Store<GroupTree | null>
  /** Reads further groups below `parent`; null: of the first level. */
  readMore(parent: GroupNode | null): void
  /** Schedules a new read of counts and summaries. */
  refreshSoon(): void
  /** Rows inserted while `work` runs join this group; by index alone, a row between two groups would be ambiguous. */
  insertInto<T>(group: GroupNode, work: () => T): T
  stop(): void
}

/** The rows of a view with the tree of their groups, which is read with the rows and updated with them. */
export function createGroupedLayout(api: GroupsApi, onError: (error: unknown) => void): GroupedLayout {
  const state = createTableState()
  const tree = createStore<GroupTree | null>(null)
  let deps: Omit<PagingDeps, 'state'> | null = null
  /** Aborted when a new tree replaces this one. */
  let reading = new AbortController()
  /** Parents whose groups are being read, as JSON of their keys. */
  const readingParents = new Set<string>()
  let target: GroupNode | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function requestOf(query: StoreQuery, levels: readonly Sort[]): Omit<GroupRequest, 'limit' | 'offset'> {
    const { groupSummaries = [] } = query
    const selection = selectionOf(deps?.tableId ?? '', query)
    return { selection, groups: [...levels], summaries: [...groupSummaries] }
  }

  async function read(signal: AbortSignal): Promise<GroupTree | null> {
    const query = deps?.query()
    const levels = query?.groups ?? []
    if (!query || levels.length === 0) return null
    // Reads as many as were listed, to keep the scroll position.
    const known = isSame(levels, tree.get()?.levels ?? []) ? (tree.get()?.groups.length ?? 0) : 0
    const limit = Math.min(MAX_GROUP_PAGE, Math.max(PAGE, known))
    const page: GroupPage = await api.groups({ ...requestOf(query, levels), limit, offset: 0 }, signal)
    const kinds = (query.groupSummaries ?? []).map(({ fieldId, summary }) => [fieldId, summary] as const)
    return treeOf(levels, page, { kinds: Object.fromEntries(kinds), search: query.search })
  }

  function replace(next: GroupTree | null): void {
    reading.abort()
    reading = new AbortController()
    readingParents.clear()
    clearTimeout(timer)
    tree.set(next)
  }

  async function refresh(): Promise<void> {
    const { signal } = reading
    const before = tree.get()
    if (!before || !deps) return
    try {
      const fresh = await read(signal)
      const now = tree.get()
      if (signal.aborted || !fresh || !now) return
      // The counts include drafts, and rows that stay in a group to which they no longer belong: take the summaries only.
      if (deps.mayRefresh() && state.localRows === 0 && now === before) tree.set(fresh)
      else tree.set(withSummaries(now, fresh))
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
  }

  async function readMore(parent: GroupNode | null): Promise<void> {
    const now = tree.get()
    const query = deps?.query()
    const keys = parent?.keys ?? []
    const name = JSON.stringify(keys)
    const listed = parent ? now && placeOf(now, keys)?.node.groups : now?.groups
    if (!now || !query || !listed || readingParents.has(name) || listed.length >= MAX_TREE) return
    const { signal } = reading
    readingParents.add(name)
    const request = requestOf(query, now.levels.slice(keys.length))
    const group = keys.map((value, level) => ({ fieldId: now.levels[level]?.fieldId ?? '', value }))
    const selection = { ...request.selection, group }
    try {
      const page = await api.groups({ ...request, selection, limit: PAGE, offset: listed.length }, signal)
      const current = tree.get()
      if (signal.aborted || !current) return
      const full = page.groups.map((each) => ({ ...each, keys: [...keys, ...each.keys] }))
      tree.set(withPage(current, keys, { ...page, groups: full }))
    } catch (error) {
      if (!signal.aborted) onError(error)
    } finally {
      if (!signal.aborted) readingParents.delete(name)
    }
  }

  /** The innermost group that contains all rows of a range. */
  function groupAround({ first, last }: RowRange): Pick<Query, 'group' | 'groups' | 'offset'> | null {
    const now = tree.get()
    // Drafts and misplaced rows make the tree's counts differ from the server's.
    if (!now || !deps?.mayRefresh() || state.localRows > 0) return null
    const end = pathTo(now, last)
    const place = pathTo(now, first).findLast((each, level) => each.first === end[level]?.first)
    if (!place) return null
    const { keys } = place.node
    return {
      group: keys.map((value, level) => ({ fieldId: now.levels[level]?.fieldId ?? '', value })),
      groups: now.levels.slice(keys.length),
      offset: first - place.first,
    }
  }

  /** Adds `by` to the count of each group. */
  function adjustCounts(groups: readonly (PlacedGroup | null)[], by: number): void {
    let next = tree.get()
    for (const group of groups) if (next && group) next = withCount(next, group.node.keys, by)
    tree.set(next)
  }

  const groupOfRow = (row: number | undefined): PlacedGroup | null => {
    const now = tree.get()
    return now && row !== undefined ? groupAt(now, row) : null
  }

  const groupsOf = (ids: readonly RecordId[]): (PlacedGroup | null)[] =>
    ids.map((id) => groupOfRow(state.indexOf(id)))

  const isOwn = (now: GroupTree, group: PlacedGroup, id: RecordId): boolean => {
    const row = state.rows.row(id)
    return !!row && !!deps && isOfGroup(deps.query().fields, now.levels, group.node, (key) => row.values(key))
  }

  /**
   * The group that rows inserted at an index join: the one given to `insertInto`, else that of the row there. A draft may
   * also be the last of the group before.
   */
  function groupForInsert(index: number, [id]: readonly RecordId[]): PlacedGroup | null {
    const now = tree.get()
    const targetGroup = now && target && placeOf(now, target.keys)
    if (targetGroup) return targetGroup
    const before = index > 0 ? groupOfRow(index - 1) : null
    if (now && before && id !== undefined && state.rows.drafts.has(id) && isOwn(now, before, id))
      return before
    // At the end of the list there is no group until the next read.
    return groupOfRow(index)
  }

  /** The end of the group whose values a draft has; null if there is none. */
  function rowForDraft(id: RecordId): number | null {
    const now = tree.get()
    let place: PlacedGroup | null = null
    let groups = now?.groups ?? []
    while (now && groups.length > 0) {
      let first: number = place?.first ?? 0
      const node = groups.find((each) => {
        if (isOwn(now, { node: each, first }, id)) return true
        first += each.count
        return false
      })
      if (!node) return null
      place = { node, first }
      groups = node.groups
    }
    return place && place.first + place.node.count
  }

  observeRows(state, {
    inserted: (index, ids) =>
      adjustCounts(Array<PlacedGroup | null>(ids.length).fill(groupForInsert(index, ids)), 1),
    removing: (ids) => {
      const groups = groupsOf(ids)
      return () => adjustCounts(groups, -1)
    },
  })

  const { neighbours } = state
  state.neighbours = (id) => {
    const own = groupOfRow(state.indexOf(id))
    const near = neighbours.call(state, id)
    const keep = (row: (typeof near)[number]) =>
      row && own && groupOfRow(state.indexOf(row.id))?.first === own.first ? row : undefined
    return tree.get() ? [keep(near[0]), keep(near[1])] : near
  }

  return {
    state,
    tree,
    createPaging(given) {
      deps = given
      return createPaging({
        ...given,
        state,
        readAlongside: async (signal) => {
          const next = await read(signal)
          return () => {
            replace(next)
            // The count arrives separately; a complete tree gives it earlier.
            if (next?.isWhole) state.count ??= countIn(next.groups) + state.localRows
          }
        },
        groupAround,
        rowForDraft,
      })
    },
    isInPlace(id, values) {
      const now = tree.get()
      const group = groupOfRow(state.indexOf(id))
      if (!now || !deps) return true
      // Rows after the last group were added without one.
      if (!group) return !now.isWhole
      return isOfGroup(deps.query().fields, now.levels, group.node, values)
    },
    readMore: (parent) => void readMore(parent),
    refreshSoon() {
      clearTimeout(timer)
      if (tree.get()) timer = setTimeout(() => void refresh(), PAUSE_MS)
    },
    insertInto(group, work) {
      target = group
      try {
        return work()
      } finally {
        target = null
      }
    },
    stop() {
      clearTimeout(timer)
      reading.abort()
    },
  }
}

/** Receives inserted and removed rows. */
interface RowObserver {
  inserted(index: number, ids: readonly RecordId[]): void
  /** Called before a removal; the returned function runs after it. */
  removing(ids: readonly RecordId[]): () => void
}

function observeRows(state: TableState, observer: RowObserver): void {
  const { insert, remove, move } = state
  state.insert = (index, ids) => {
    observer.inserted(index, ids)
    insert.call(state, index, ids)
  }
  state.remove = (ids) => {
    const done = observer.removing(ids.filter((id) => state.indexOf(id) !== undefined))
    remove.call(state, ids)
    done()
  }
  state.move = (ids, before) => {
    const loaded = ids.filter((id) => state.indexOf(id) !== undefined)
    const at = before === null ? state.count : state.indexOf(before)
    const done = observer.removing(loaded)
    if (at !== undefined && at !== null) observer.inserted(at, loaded)
    move.call(state, ids, before)
    done()
  }
}

/** True if a record has the values of a group. */
function isOfGroup(
  fields: readonly Field[],
  levels: readonly Sort[],
  group: GroupNode,
  values: ValueOf,
): boolean {
  return group.keys.every((key, level) => {
    const field = fields.find(({ id }) => id === levels[level]?.fieldId)
    return !field || hasGroupKey(field, values(field.id), key, timeZone)
  })
}

const isSame = (a: readonly Sort[], b: readonly Sort[]): boolean => JSON.stringify(a) === JSON.stringify(b)
