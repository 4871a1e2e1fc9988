import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { GridRow } from '../../grid/contract.ts'
import { createRows } from '../rows.ts'
import { createListListeners, type ListState } from './list.ts'
import { createSegments, type Segments } from './segments.ts'
import type { StackKey } from './stack-by.ts'

/** Fields that determine a card's stack and position. */
interface StacksRules {
  /** The field whose value determines the stack. */
  keyFieldId: string
  keyOf(row: GridRow): StackKey
  /** Sort order of two cards of a stack: negative, zero or positive. */
  compare(a: GridRow, b: GridRow): number
}

export type StacksState = ReturnType<typeof createStacksState>

/**
 * The rows of a store as the cards of a kanban. A record is in the stack that its values determine and moves as soon as
 * they change. Row indexes count through the stacks in order.
 */
export function createStacksState({ keyFieldId, keyOf, compare }: StacksRules) {
  const loaded = createLoadedStacks()
  const rows = createRows()
  const realIds = new Map<RecordId, RecordId>()
  const listeners = createListListeners()
  let order: readonly StackKey[] = []

  const realId = (id: RecordId): RecordId => realIds.get(id) ?? id
  const inOrder = (): LoadedStack[] => order.map(loaded.stack)

  /** The stack of a row index, and the index within the stack. */
  function positionAt(index: number): { stack: LoadedStack; at: number } | undefined {
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
    const position = positionAt(index)
    return position?.stack.segments.idAt(position.at)
  }

  const stackByValues = (id: RecordId): LoadedStack | undefined => {
    const row = rows.row(id)
    return row && loaded.stack(keyOf(row))
  }

  /** Sorted index of a card among the loaded cards of a stack. */
  function sortedIndex(id: RecordId, stack: LoadedStack): number {
    const own = rows.row(id)
    for (const other of own ? stack.segments.ids() : []) {
      const row = other === id ? undefined : rows.row(other)
      if (own && row && compare(own, row) < 0) return stack.segments.indexOf(other) ?? 0
    }
    return loaded.length(stack)
  }

  /** Moves a card to the stack and position that its values determine. */
  function moveToOwnStack(id: RecordId): void {
    const target = stackByValues(id)
    if (!target || !loaded.stackOf(id)) return
    loaded.remove([id])
    loaded.insert(target, sortedIndex(id, target), [id])
    listeners.structureChanged()
  }

  /** Inserts cards before another of their stack; if that is in another stack, at their sorted position. */
  function insertAhead(ids: readonly RecordId[], before: RecordId | null | undefined): void {
    for (const id of ids) {
      const stack = stackByValues(id)
      if (!stack) continue
      const ahead = before == null ? undefined : stack.segments.indexOf(before)
      loaded.insert(stack, ahead ?? (before === null ? loaded.length(stack) : sortedIndex(id, stack)), [id])
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
    orderingFieldIds: [keyFieldId],

    rowOfServerIndex: (index) => index,

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

    positionChanged(id: RecordId, after: Values, change?: number) {
      rows.merge(id, after, change)
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
      if (stack && stackByValues(id) !== stack) moveToOwnStack(id)
      listeners.recordChanged(id)
    },

    structureChanged: listeners.structureChanged,
    subscribe: listeners.subscribe,

    // Cards subscribe by record (`onRow`); row indexes mean nothing on a kanban.
    subscribeRow: () => () => {},
    subscribeValues: () => () => {},

    onRow: listeners.onRow,
    onData: listeners.onData,
    dataChanged: listeners.dataChanged,
  }

  return {
    state,
    loaded,

    /** Sets the stacks of the kanban, in order. */
    setOrder(keys: readonly StackKey[]): void {
      if (keys.length === order.length && keys.every((key, at) => key === order[at])) return
      order = keys
      listeners.structureChanged()
    },

    /** The index that a card would get in a stack by the view's order. */
    sortedIndexIn: (id: RecordId, key: StackKey): number => sortedIndex(realId(id), loaded.stack(key)),

    /** The stack of a record; undefined if not loaded. */
    keyOf: (id: RecordId): StackKey | undefined => loaded.stackOf(realId(id))?.key,

    /** The cards from one to another of the same stack, inclusive; only `to` if they are in different stacks. */
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

    /** Index of a card in its stack. */
    indexIn: (id: RecordId): number | undefined => loaded.stackOf(realId(id))?.segments.indexOf(realId(id)),

    /** The next card of the stack; null: `id` is the last; undefined: not loaded. */
    nextOf(id: RecordId): RecordId | null | undefined {
      const stack = loaded.stackOf(realId(id))
      const at = stack?.segments.indexOf(realId(id))
      if (!stack || at === undefined) return undefined
      return at + 1 >= loaded.length(stack) ? null : stack.segments.idAt(at + 1)
    },
  }
}

/** The loaded cards of one stack. */
export interface LoadedStack {
  readonly key: StackKey
  readonly segments: Segments
  /** Null while unknown. */
  count: number | null
  /** Incremented when a card is added, removed or moved: responses to earlier requests would land at wrong indexes. */
  shape: number
  /** Incremented when the stack has to be redrawn. */
  version: number
}

export type LoadedStacks = ReturnType<typeof createLoadedStacks>

/** The stacks of a kanban, created on first use, and the stack of each record. */
function createLoadedStacks() {
  const loaded = new Map<StackKey, LoadedStack>()
  const byRecord = new Map<RecordId, LoadedStack>()
  const listeners = new Map<StackKey, Set<() => void>>()

  function stack(key: StackKey): LoadedStack {
    const known = loaded.get(key)
    if (known) return known
    const created: LoadedStack = { key, segments: createSegments(), count: null, shape: 0, version: 0 }
    loaded.set(key, created)
    return created
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

    /** Length of the stack as far as known. */
    length: ({ count, segments }: LoadedStack): number => Math.max(count ?? 0, segments.end),

    insert(one: LoadedStack, index: number, ids: readonly RecordId[]): void {
      if (ids.length === 0) return
      one.segments.insert(index, [...ids])
      for (const id of ids) byRecord.set(id, one)
      if (one.count !== null) one.count += ids.length
      one.shape++
      changed(one)
    },

    /** Removes records from their stacks. */
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

    /** Sets the records of a stack from an index on. Returns those that are in no stack any more. */
    put(one: LoadedStack, start: number, ids: RecordId[]): RecordId[] {
      const fromOtherStacks = ids.filter((id) => byRecord.has(id) && byRecord.get(id) !== one)
      this.remove(fromOtherStacks)
      const dropped = one.segments.put(start, ids)
      for (const id of dropped) if (byRecord.get(id) === one) byRecord.delete(id)
      for (const id of ids) byRecord.set(id, one)
      return dropped.filter((id) => !byRecord.has(id))
    },

    /** Unloads a stack. Returns the records that were in it. */
    clear(one: LoadedStack): RecordId[] {
      const ids = one.segments.ids()
      for (const id of ids) byRecord.delete(id)
      one.segments.clear()
      return ids
    },

    /** Unloads the least recently visible cards and returns them. */
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
