import type { RecordId } from '../../../../../src/core/model.ts'
import { createSegments, type Segments } from '../../../records/store/segments.ts'
import type { StackKey } from './stack-by.ts'

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
export function createLanes() {
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
