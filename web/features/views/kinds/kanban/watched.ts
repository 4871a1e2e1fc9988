/** A value that some components follow, each for itself: a drag must not draw a whole board again. */
export interface Watched<T> {
  get(): T
  set(next: T): void
  subscribe(listener: () => void): () => void
}

/** A value to follow; setting what it is already tells nobody. */
export function watched<T>(start: T): Watched<T> {
  const listeners = new Set<() => void>()
  let value = start
  return {
    get: () => value,
    set(next) {
      if (next === value) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
