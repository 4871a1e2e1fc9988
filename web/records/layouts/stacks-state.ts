import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { GridRow } from '../../grid/contract.ts'
import { createRows } from '../rows.ts'
import { createListListeners, type ListState } from './list.ts'
import { createSegments, type Segments } from './segments.ts'
import type { StackKey } from './stack-by.ts'

/** Fields that determine a card's stack and position. */
interface BoardRules {
  /** The field whose value is the stack. */
  keyFieldId: string
  keyOf(row: GridRow): StackKey
  /** Sort order of two cards of a stack: negative, zero or positive. */
  compare(a: GridRow, b: GridRow): number
}

export type BoardState = ReturnType<typeof createBoardState>

/**
 * The rows of a store as the cards of a board. A record stands in the stack that its values name: it changes
 * stacks the moment these change, whoever changed them. To what asks by index the stacks stand one after the other.
 */
export function createBoardState({ keyFieldId, keyOf, compare }: BoardRules) {
  const lanes = createLanes()
  const rows = createRows()
  const realIds = new Map<RecordId, RecordId>()
  const listeners = createListListeners()
  let order: readonly StackKey[] = []

  const realId = (id: RecordId): RecordId => realIds.get(id) ?? id
  const inOrder = (): Lane[] => order.map(lanes.lane)

  /** The place of an index: its stack, and the index within that. */
  function placeAt(index: number): { lane: Lane; at: number } | undefined {
    let left = index
    for (const lane of inOrder()) {
      const length = lanes.length(lane)
      if (left < length) return { lane, at: left }
      left -= length
    }
    return undefined
  }

  function indexOf(id: RecordId): number | undefined {
    const real = realId(id)
    const own = lanes.of(real)
    const at = own?.segments.indexOf(real)
    if (!own || at === undefined || !order.includes(own.key)) return undefined
    let start = 0
    for (const lane of inOrder()) {
      if (lane === own) return start + at
      start += lanes.length(lane)
    }
    return undefined
  }

  function idAt(index: number): RecordId | undefined {
    const place = placeAt(index)
    return place?.lane.segments.idAt(place.at)
  }

  const wantedLane = (id: RecordId): Lane | undefined => {
    const row = rows.row(id)
    return row && lanes.lane(keyOf(row))
  }

  /** Where a card belongs in a stack, as far as that is loaded. */
  function sortedPlace(id: RecordId, lane: Lane): number {
    const own = rows.row(id)
    for (const other of own ? lane.segments.ids() : []) {
      const row = other === id ? undefined : rows.row(other)
      if (own && row && compare(own, row) < 0) return lane.segments.indexOf(other) ?? 0
    }
    return lanes.length(lane)
  }

  /** Moves a card to the stack and position that its values give. */
  function moveToOwnStack(id: RecordId): void {
    const wanted = wantedLane(id)
    if (!wanted || !lanes.of(id)) return
    lanes.remove([id])
    lanes.insert(wanted, sortedPlace(id, wanted), [id])
    listeners.structureChanged()
  }

  /** Puts cards that stand nowhere ahead of another of their stack, else where they belong. */
  function insertAhead(ids: readonly RecordId[], before: RecordId | null | undefined): void {
    for (const id of ids) {
      const lane = wantedLane(id)
      if (!lane) continue
      const ahead = before == null ? undefined : lane.segments.indexOf(before)
      lanes.insert(lane, ahead ?? (before === null ? lanes.length(lane) : sortedPlace(id, lane)), [id])
    }
  }

  const state: ListState = {
    segments: {
      has: (id) => lanes.of(id) !== undefined,
      idAt,
      indexOf,
      get end() {
        return inOrder().reduce((sum, lane) => sum + lanes.length(lane), 0)
      },
    },
    rows,
    realId,
    indexOf,
    decides: [keyFieldId],

    rowOfPlace: (place) => place,

    get count() {
      const all = lanes.all()
      if (all.every((lane) => lane.count === null)) return null
      return all.reduce((sum, lane) => sum + (lane.count ?? 0), 0)
    },

    getRow(index) {
      const id = idAt(index)
      return id === undefined ? undefined : rows.row(id)
    },

    neighbours(id) {
      const lane = lanes.of(id)
      const at = lane?.segments.indexOf(id)
      if (!lane || at === undefined) return [undefined, undefined]
      const row = (index: number) => {
        const other = lane.segments.idAt(index)
        return other === undefined ? undefined : rows.row(other)
      }
      return [row(at - 1), row(at + 1)]
    },

    move(ids, before) {
      const loaded = ids.map(realId).filter((id) => lanes.of(id))
      lanes.remove(loaded)
      insertAhead(loaded, before === null ? null : realId(before))
    },

    placed(id: RecordId, after: Values) {
      rows.merge(id, after)
      moveToOwnStack(id)
    },

    insert(index, ids) {
      insertAhead(ids, idAt(index))
    },

    remove(ids) {
      const loaded = ids.map(realId).filter((id) => lanes.of(id))
      lanes.remove(loaded)
      for (const id of loaded) rows.unmatched.delete(id)
      rows.forget(loaded)
    },

    rename(from, to) {
      lanes.rename(from, to)
      realIds.set(from, to)
    },

    rowChanged(id) {
      rows.touch(id)
      const lane = lanes.of(id)
      if (lane && wantedLane(id) !== lane) moveToOwnStack(id)
      listeners.recordChanged(id)
    },

    structureChanged: listeners.structureChanged,
    subscribe: listeners.subscribe,

    // A card is followed by its record: what stands at an index means nothing on a board.
    subscribeRow: () => () => {},
    subscribeValues: () => () => {},

    onRow: listeners.onRow,
    onData: listeners.onData,
    dataChanged: listeners.dataChanged,
  }

  return {
    state,
    lanes,

    /** The stacks that stand on the board, in its order. */
    setOrder(keys: readonly StackKey[]): void {
      if (keys.length === order.length && keys.every((key, at) => key === order[at])) return
      order = keys
      listeners.structureChanged()
    },

    /** Where a card would stand in a stack by the order of the view. */
    placeIn: (id: RecordId, key: StackKey): number => sortedPlace(realId(id), lanes.lane(key)),

    /** The stack that a record stands in; undefined where it is not loaded. */
    keyOf: (id: RecordId): StackKey | undefined => lanes.of(realId(id))?.key,

    /** The cards from one to another of the same stack, both included; of different stacks the second alone. */
    between(from: RecordId | null, to: RecordId): RecordId[] {
      const lane = lanes.of(realId(to))
      const start =
        from === null || lanes.of(realId(from)) !== lane ? undefined : lane?.segments.indexOf(realId(from))
      const end = lane?.segments.indexOf(realId(to))
      if (!lane || start === undefined || end === undefined) return [to]
      const ids: RecordId[] = []
      for (let index = Math.min(start, end); index <= Math.max(start, end); index++) {
        const id = lane.segments.idAt(index)
        if (id !== undefined) ids.push(id)
      }
      return ids
    },

    /** Its index in the stack. */
    indexIn: (id: RecordId): number | undefined => lanes.of(realId(id))?.segments.indexOf(realId(id)),

    /** The card after one in its stack; null: it is the last; undefined: that is not known. */
    nextOf(id: RecordId): RecordId | null | undefined {
      const lane = lanes.of(realId(id))
      const at = lane?.segments.indexOf(realId(id))
      if (!lane || at === undefined) return undefined
      return at + 1 >= lanes.length(lane) ? null : lane.segments.idAt(at + 1)
    },
  }
}

/** The cards of one stack as the browser knows them. */
export interface Lane {
  readonly key: StackKey
  readonly segments: Segments
  /** Null while it is not known. */
  count: number | null
  /** Grows whenever a card came, went or moved: an answer asked for before that would land wrongly. */
  shape: number
  /** Grows whenever the stack looks different. */
  version: number
}

export type Lanes = ReturnType<typeof createLanes>

/** The stacks of a board, made as they are named, and which of them a record stands in. */
function createLanes() {
  const lanes = new Map<StackKey, Lane>()
  const laneOf = new Map<RecordId, Lane>()
  const listeners = new Map<StackKey, Set<() => void>>()

  function lane(key: StackKey): Lane {
    const known = lanes.get(key)
    if (known) return known
    const made: Lane = { key, segments: createSegments(), count: null, shape: 0, version: 0 }
    lanes.set(key, made)
    return made
  }

  function changed(one: Lane): void {
    one.version++
    for (const listener of [...(listeners.get(one.key) ?? [])]) listener()
  }

  return {
    lane,
    changed,
    all: (): Lane[] => [...lanes.values()],
    of: (id: RecordId): Lane | undefined => laneOf.get(id),

    /** How long the stack is, as far as that is known. */
    length: ({ count, segments }: Lane): number => Math.max(count ?? 0, segments.end),

    insert(one: Lane, index: number, ids: readonly RecordId[]): void {
      if (ids.length === 0) return
      one.segments.insert(index, [...ids])
      for (const id of ids) laneOf.set(id, one)
      if (one.count !== null) one.count += ids.length
      one.shape++
      changed(one)
    },

    /** Takes records out of wherever they stand. */
    remove(ids: Iterable<RecordId>): void {
      const touched = new Set<Lane>()
      for (const id of ids) {
        const one = laneOf.get(id)
        if (!one) continue
        one.segments.remove([id])
        laneOf.delete(id)
        if (one.count !== null) one.count--
        one.shape++
        touched.add(one)
      }
      for (const one of touched) changed(one)
    },

    /** Says which records stand from a place on. Gives those that stand nowhere any more. */
    put(one: Lane, start: number, ids: RecordId[]): RecordId[] {
      const strangers = ids.filter((id) => laneOf.has(id) && laneOf.get(id) !== one)
      this.remove(strangers)
      const dropped = one.segments.put(start, ids)
      for (const id of dropped) if (laneOf.get(id) === one) laneOf.delete(id)
      for (const id of ids) laneOf.set(id, one)
      return dropped.filter((id) => !laneOf.has(id))
    },

    /** Forgets what was read of a stack. Gives the records that stood there. */
    clear(one: Lane): RecordId[] {
      const ids = one.segments.ids()
      for (const id of ids) laneOf.delete(id)
      one.segments.clear()
      return ids
    },

    /** Forgets cards that were out of sight longest. Gives them. */
    evict(...[one, most, keep, isPinned]: [Lane, ...Parameters<Segments['evict']>]): RecordId[] {
      const ids = one.segments.evict(most, keep, isPinned)
      for (const id of ids) laneOf.delete(id)
      return ids
    },

    rename(from: RecordId, to: RecordId): void {
      const one = laneOf.get(from)
      if (!one) return
      one.segments.rename(from, to)
      laneOf.delete(from)
      laneOf.set(to, one)
      changed(one)
    },

    subscribe(key: StackKey, listener: () => void): () => void {
      const set = listeners.get(key) ?? new Set()
      listeners.set(key, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0 && listeners.get(key) === set) listeners.delete(key)
      }
    },
  }
}
