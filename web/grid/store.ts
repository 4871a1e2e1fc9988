import { useSyncExternalStore } from 'react'

/** A value that components follow one by one, so that a change draws only what shows it. */
export interface Store<T> {
  get(): T
  /** Setting what is already there tells nobody. */
  set(value: T): void
  subscribe(listener: () => void): () => void
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

/** The store's value; the component draws again when it changes. */
export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)

/** A part of the store's value. `select` must give the same identity for the same part. */
export const useStorePart = <T, P>(store: Store<T>, select: (value: T) => P): P =>
  useSyncExternalStore(store.subscribe, () => select(store.get()))
