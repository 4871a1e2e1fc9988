import { groupKeyOf } from '../../../src/core/group-key.ts'
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
import type { StoreLayout } from '../record-store.ts'
import type { GroupsApi, StoreQuery } from '../types.ts'
import { createTableState, type TableState } from './list.ts'
import { createPaging, type PagingDeps } from './paging.ts'
import type { RowRange } from './segments.ts'

/** Groups of the first level in one reading; further ones are read as one comes near them. */
const PAGE = 500

/** Most groups of one level that are listed under one another: a browser holds and places as many with ease. */
const MAX_TREE = 20_000

/** Edits come in bursts; the headers follow once they rest. */
const PAUSE_MS = 300

/** A list of rows that stand in groups, where the query has any. */
export interface GroupedLayout extends StoreLayout {
  tree: Store<GroupTree | null>
  /** Reads further groups of one; null: of the first level. */
  readMore(parent: GroupNode | null): void
  /** Counts and summaries may have changed. */
  refreshSoon(): void
  /** Rows inserted while `work` runs join this group; at a border, either neighbour would fit. */
  into<T>(group: GroupNode, work: () => T): T
  stop(): void
}

/** The rows of a view with the tree of their groups, which is read together with them and kept in step. */
export function createGroupedLayout(api: GroupsApi, onError: (error: unknown) => void): GroupedLayout {
  const state = createTableState()
  const tree = createStore<GroupTree | null>(null)
  let deps: Omit<PagingDeps, 'state'> | null = null
  /** Groups that are being read, by the name of their parent; a new tree ends all of that. */
  let reading = new AbortController()
  const underWay = new Set<string>()
  let target: GroupNode | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function requestOf(query: StoreQuery, levels: readonly Sort[]): Omit<GroupRequest, 'limit' | 'offset'> {
    const { filter, search, groupSummaries = [] } = query
    const tableId = deps?.tableId ?? ''
    return { selection: { tableId, filter, search }, groups: [...levels], summaries: [...groupSummaries] }
  }

  async function read(signal: AbortSignal): Promise<GroupTree | null> {
    const query = deps?.query()
    const levels = query?.groups ?? []
    if (!query || levels.length === 0) return null
    // As many as were listed: whoever has scrolled far stays there.
    const known = isSame(levels, tree.get()?.levels ?? []) ? (tree.get()?.groups.length ?? 0) : 0
    const limit = Math.min(MAX_GROUP_PAGE, Math.max(PAGE, known))
    const page: GroupPage = await api.groups({ ...requestOf(query, levels), limit, offset: 0 }, signal)
    const kinds = (query.groupSummaries ?? []).map(({ fieldId, summary }) => [fieldId, summary] as const)
    return treeOf(levels, page, { kinds: Object.fromEntries(kinds), search: query.search })
  }

  function replace(next: GroupTree | null): void {
    reading.abort()
    reading = new AbortController()
    underWay.clear()
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
      // While rows are kept where they do not belong any more, their groups count them, too.
      if (deps.mayRefresh() && now === before) tree.set(fresh)
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
    if (!now || !query || !listed || underWay.has(name) || listed.length >= MAX_TREE) return
    const { signal } = reading
    underWay.add(name)
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
      if (!signal.aborted) underWay.delete(name)
    }
  }

  /** The innermost group in which all of the rows stand. */
  function partOf({ first, last }: RowRange): Pick<Query, 'group' | 'groups' | 'offset'> | null {
    const now = tree.get()
    // Rows that are new or out of place are counted here, and not, or elsewhere, by the server.
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

  /** Counts records in the group of each of the rows. */
  function count(groups: readonly (PlacedGroup | null)[], by: number): void {
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

  /** The group that rows at a place belong to: the one asked for, or that of the row that stands there. */
  function groupAtPlace(index: number): PlacedGroup | null {
    const now = tree.get()
    const asked = now && target && placeOf(now, target.keys)
    // At the end of all it is in none, until it is read again.
    return asked || groupOfRow(index)
  }

  followRows(state, {
    inserted: (index, rows) => count(Array<PlacedGroup | null>(rows).fill(groupAtPlace(index)), 1),
    leaving: (ids) => {
      const groups = groupsOf(ids)
      return () => count(groups, -1)
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
        beside: async (signal) => {
          const next = await read(signal)
          return () => {
            replace(next)
            // The count is read apart; where all groups are known, so is it.
            if (next?.isWhole) state.count ??= countIn(next.groups) + state.localRows
          }
        },
        partOf,
      })
    },
    isInPlace(id, values) {
      const now = tree.get()
      const group = groupOfRow(state.indexOf(id))
      if (!now || !deps) return true
      // Behind all groups stands what was added without one.
      if (!group) return !now.isWhole
      return isOfGroup(deps.query().fields, now.levels, group.node, values)
    },
    readMore: (parent) => void readMore(parent),
    refreshSoon() {
      clearTimeout(timer)
      if (tree.get()) timer = setTimeout(() => void refresh(), PAUSE_MS)
    },
    into(group, work) {
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
interface RowFollower {
  inserted(index: number, rows: number): void
  /** Called ahead; what it gives runs once they have gone. */
  leaving(ids: readonly RecordId[]): () => void
}

function followRows(state: TableState, follower: RowFollower): void {
  const { insert, remove, move } = state
  state.insert = (index, ids) => {
    follower.inserted(index, ids.length)
    insert.call(state, index, ids)
  }
  state.remove = (ids) => {
    const done = follower.leaving(ids.filter((id) => state.indexOf(id) !== undefined))
    remove.call(state, ids)
    done()
  }
  state.move = (ids, before) => {
    const loaded = ids.filter((id) => state.indexOf(id) !== undefined)
    const at = before === null ? state.count : state.indexOf(before)
    const done = follower.leaving(loaded)
    if (at !== undefined && at !== null) follower.inserted(at, loaded.length)
    move.call(state, ids, before)
    done()
  }
}

/** True where a record has the values of a group; of what is computed the server has the last word. */
function isOfGroup(
  fields: readonly Field[],
  levels: readonly Sort[],
  group: GroupNode,
  values: ValueOf,
): boolean {
  return group.keys.every((key, level) => {
    const field = fields.find(({ id }) => id === levels[level]?.fieldId)
    return !field || groupKeyOf(field, values(field.id), timeZone) === key
  })
}

const isSame = (a: readonly Sort[], b: readonly Sort[]): boolean => JSON.stringify(a) === JSON.stringify(b)
