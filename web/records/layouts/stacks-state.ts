import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { GridRow } from '../../grid/contract.ts'
import { createRows } from '../rows.ts'
import { createListListeners, type ListState } from './list.ts'
import { createSegments, type Segments } from './segments.ts'
import type { StackKey } from './stack-by.ts'

/** Fields that determine a card's stack and position. */
interface StacksRules {
  /** The field whose value is the stack. */
  keyFieldId: string
  keyOf(row: GridRow): StackKey
  /** Sort order of two cards of a stack: negative, zero or positive. */
  compare(a: GridRow, b: GridRow): number
}

export type StacksState = ReturnType<typeof createStacksState>

/**
 * The rows of a store as the cards of a kanban. A record stands in the stack that its values name: it changes
 * stacks the moment these change, whoever changed them. To what asks by index the stacks stand one after the other.
 */
export function createStacksState({ keyFieldId, keyOf, compare }: StacksRules) {
  const loaded = createLoadedStacks()
  const rows = createRows()
  const realIds = new Map<RecordId, RecordId>()
  const listeners = createListListeners()
  let order: readonly StackKey[] = []

  const realId = (id: RecordId): RecordId => realIds.get(id) ?? id
  const inOrder = (): LoadedStack[] => order.map(loaded.stack)

  /** The place of an index: its stack, and the index within that. */
  function placeAt(index: number): { stack: LoadedStack; at: number } | undefined {
    let left = index
    for (const stack of inOrder()) {
      const length = loaded.length(stack)
      if (left < length) return { stack, at: left }
      left -= length
    }
    return undefined
  }

  function indexOf(id: RecordId): number | undefined {
    const real = realId(id)
    const own = loaded.stackOf(real)
    const at = own?.segments.indexOf(real)
    if (!own || at === undefined || !order.includes(own.key)) return undefined
    let start = 0
    for (const stack of inOrder()) {
      if (stack === own) return start + at
      start += loaded.length(stack)
    }
    return undefined
  }

  function idAt(index: number): RecordId | undefined {
    const place = placeAt(index)
    return place?.stack.segments.idAt(place.at)
  }

  const wantedLane = (id: RecordId): LoadedStack | undefined => {
    const row = rows.row(id)
    return row && loaded.stack(keyOf(row))
  }

  /** Where a card belongs in a stack, as far as that is loaded. */
  function sortedPlace(id: RecordId, stack: LoadedStack): number {
    const own = rows.row(id)
    for (const other of own ? stack.segments.ids() : []) {
      const row = other === id ? undefined : rows.row(other)
      if (own && row && compare(own, row) < 0) return stack.segments.indexOf(other) ?? 0
    }
    return loaded.length(stack)
  }

  /** Moves a card to the stack and position that its values give. */
  function moveToOwnStack(id: RecordId): void {
    const wanted = wantedLane(id)
    if (!wanted || !loaded.stackOf(id)) return
    loaded.remove([id])
    loaded.insert(wanted, sortedPlace(id, wanted), [id])
    listeners.structureChanged()
  }

  /** Puts cards that stand nowhere ahead of another of their stack, else where they belong. */
  function insertAhead(ids: readonly RecordId[], before: RecordId | null | undefined): void {
    for (const id of ids) {
      const stack = wantedLane(id)
      if (!stack) continue
      const ahead = before == null ? undefined : stack.segments.indexOf(before)
      loaded.insert(stack, ahead ?? (before === null ? loaded.length(stack) : sortedPlace(id, stack)), [id])
    }
  }

  const state: ListState = {
    segments: {
      has: (id) => loaded.stackOf(id) !== undefined,
      idAt,
      indexOf,
      get end() {
        return inOrder().reduce((sum, stack) => sum + loaded.length(stack), 0)
      },
    },
    rows,
    realId,
    indexOf,
    decides: [keyFieldId],

    rowOfPlace: (place) => place,

    get count() {
      const all = loaded.all()
      if (all.every((stack) => stack.count === null)) return null
      return all.reduce((sum, stack) => sum + (stack.count ?? 0), 0)
    },

    getRow(index) {
      const id = idAt(index)
      return id === undefined ? undefined : rows.row(id)
    },

    neighbours(id) {
      const stack = loaded.stackOf(id)
      const at = stack?.segments.indexOf(id)
      if (!stack || at === undefined) return [undefined, undefined]
      const row = (index: number) => {
        const other = stack.segments.idAt(index)
        return other === undefined ? undefined : rows.row(other)
      }
      return [row(at - 1), row(at + 1)]
    },

    move(ids, before) {
      const moved = ids.map(realId).filter(loaded.stackOf)
      loaded.remove(moved)
      insertAhead(moved, before === null ? null : realId(before))
    },

    placed(id: RecordId, after: Values) {
      rows.merge(id, after)
      moveToOwnStack(id)
    },

    insert(index, ids) {
      insertAhead(ids, idAt(index))
    },

    remove(ids) {
      const removed = ids.map(realId).filter(loaded.stackOf)
      loaded.remove(removed)
      for (const id of removed) rows.unmatched.delete(id)
      rows.forget(removed)
    },

    rename(from, to) {
      loaded.rename(from, to)
      realIds.set(from, to)
    },

    rowChanged(id) {
      rows.touch(id)
      const stack = loaded.stackOf(id)
      if (stack && wantedLane(id) !== stack) moveToOwnStack(id)
      listeners.recordChanged(id)
    },

    structureChanged: listeners.structureChanged,
    subscribe: listeners.subscribe,

    // A card is followed by its record: what stands at an index means nothing on a kanban.
    subscribeRow: () => () => {},
    subscribeValues: () => () => {},

    onRow: listeners.onRow,
    onData: listeners.onData,
    dataChanged: listeners.dataChanged,
  }

  return {
    state,
    loaded,

    /** The stacks that stand on the kanban, in its order. */
    setOrder(keys: readonly StackKey[]): void {
      if (keys.length === order.length && keys.every((key, at) => key === order[at])) return
      order = keys
      listeners.structureChanged()
    },

    /** Where a card would stand in a stack by the order of the view. */
    placeIn: (id: RecordId, key: StackKey): number => sortedPlace(realId(id), loaded.stack(key)),

    /** The stack that a record stands in; undefined where it is not loaded. */
    keyOf: (id: RecordId): StackKey | undefined => loaded.stackOf(realId(id))?.key,

    /** The cards from one to another of the same stack, both included; of different stacks the second alone. */
    between(from: RecordId | null, to: RecordId): RecordId[] {
      const stack = loaded.stackOf(realId(to))
      const start =
        from === null || loaded.stackOf(realId(from)) !== stack
          ? undefined
          : stack?.segments.indexOf(realId(from))
      const end = stack?.segments.indexOf(realId(to))
      if (!stack || start === undefined || end === undefined) return [to]
      const ids: RecordId[] = []
      for (let index = Math.min(start, end); index <= Math.max(start, end); index++) {
        const id = stack.segments.idAt(index)
        if (id !== undefined) ids.push(id)
      }
      return ids
    },

    /** Its index in the stack. */
    indexIn: (id: RecordId): number | undefined => loaded.stackOf(realId(id))?.segments.indexOf(realId(id)),

    /** The card after one in its stack; null: it is the last; undefined: that is not known. */
    nextOf(id: RecordId): RecordId | null | undefined {
      const stack = loaded.stackOf(realId(id))
      const at = stack?.segments.indexOf(realId(id))
      if (!stack || at === undefined) return undefined
      return at + 1 >= loaded.length(stack) ? null : stack.segments.idAt(at + 1)
    },
  }
}

/** The cards of one stack as the browser knows them. */
export interface LoadedStack {
  readonly key: StackKey
  readonly segments: Segments
  /** Null while it is not known. */
  count: number | null
  /** Grows whenever a card came, went or moved: an answer asked for before that would land wrongly. */
  shape: number
  /** Grows whenever the stack looks different. */
  version: number
}

export type LoadedStacks = ReturnType<typeof createLoadedStacks>

/** The stacks of a kanban, made as they are named, and which of them a record stands in. */
function createLoadedStacks() {
  const loaded = new Map<StackKey, LoadedStack>()
  const byRecord = new Map<RecordId, LoadedStack>()
  const listeners = new Map<StackKey, Set<() => void>>()

  function stack(key: StackKey): LoadedStack {
    const known = loaded.get(key)
    if (known) return known
    const made: LoadedStack = { key, segments: createSegments(), count: null, shape: 0, version: 0 }
    loaded.set(key, made)
    return made
  }

  function changed(one: LoadedStack): void {
    one.version++
    for (const listener of [...(listeners.get(one.key) ?? [])]) listener()
  }

  return {
    stack,
    changed,
    all: (): LoadedStack[] => [...loaded.values()],
    stackOf: (id: RecordId): LoadedStack | undefined => byRecord.get(id),

    /** How long the stack is, as far as that is known. */
    length: ({ count, segments }: LoadedStack): number => Math.max(count ?? 0, segments.end),

    insert(one: LoadedStack, index: number, ids: readonly RecordId[]): void {
      if (ids.length === 0) return
      one.segments.insert(index, [...ids])
      for (const id of ids) byRecord.set(id, one)
      if (one.count !== null) one.count += ids.length
      one.shape++
      changed(one)
    },

    /** Takes records out of wherever they stand. */
    remove(ids: Iterable<RecordId>): void {
      const touched = new Set<LoadedStack>()
      for (const id of ids) {
        const one = byRecord.get(id)
        if (!one) continue
        one.segments.remove([id])
        byRecord.delete(id)
        if (one.count !== null) one.count--
        one.shape++
        touched.add(one)
      }
      for (const one of touched) changed(one)
    },

    /** Says which records stand from a place on. Gives those that stand nowhere any more. */
    put(one: LoadedStack, start: number, ids: RecordId[]): RecordId[] {
      const strangers = ids.filter((id) => byRecord.has(id) && byRecord.get(id) !== one)
      this.remove(strangers)
      const dropped = one.segments.put(start, ids)
      for (const id of dropped) if (byRecord.get(id) === one) byRecord.delete(id)
      for (const id of ids) byRecord.set(id, one)
      return dropped.filter((id) => !byRecord.has(id))
    },

    /** Forgets what was read of a stack. Gives the records that stood there. */
    clear(one: LoadedStack): RecordId[] {
      const ids = one.segments.ids()
      for (const id of ids) byRecord.delete(id)
      one.segments.clear()
      return ids
    },

    /** Forgets cards that were out of sight longest. Gives them. */
    evict(...[one, most, keep, isPinned]: [LoadedStack, ...Parameters<Segments['evict']>]): RecordId[] {
      const ids = one.segments.evict(most, keep, isPinned)
      for (const id of ids) byRecord.delete(id)
      return ids
    },

    rename(from: RecordId, to: RecordId): void {
      const one = byRecord.get(from)
      if (!one) return
      one.segments.rename(from, to)
      byRecord.delete(from)
      byRecord.set(to, one)
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
