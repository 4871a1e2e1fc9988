/**
 * A contract that an earlier part of the server defines and a later one implements. `TableViews` is an example: the
 * schema module needs views, which come after it.
 */
export interface Slot<T> {
  /** For error messages, e.g. `schema.views`. */
  readonly name: string
  /** Only for the type checker: ties the slot to its contract. */
  readonly contract?: (value: T) => T
}

/** The implementations of all slots, each filled once by `createServices` in app.ts. */
export interface Registry {
  /** @throws Error if the slot is already filled */
  fill<T>(slot: Slot<T>, value: T): void
  /** Call at each use, not while services are being built. @throws Error if the slot is not filled yet */
  get<T>(slot: Slot<T>): T
}

export const defineSlot = <T>(name: string): Slot<T> => ({ name })

/** An empty registry; each server in a process has its own. */
export function createRegistry(): Registry {
  const filled = new Map<object, unknown>()
  return {
    fill(slot, value) {
      if (filled.has(slot)) throw new Error(`The slot ${slot.name} is already filled`)
      filled.set(slot, value)
    },
    get<T>(slot: Slot<T>): T {
      if (!filled.has(slot)) throw new Error(`The slot ${slot.name} is not filled yet`)
      return filled.get(slot) as T
    },
  }
}
