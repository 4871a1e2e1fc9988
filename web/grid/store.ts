import { useStore as useZustand } from 'zustand'
import { createStore as createZustand, type StoreApi } from 'zustand/vanilla'

/** An observable value: only components that use it render on change. */
export interface Store<T> extends Pick<StoreApi<T>, 'getState' | 'getInitialState' | 'subscribe'> {
  get(): T
  /** Replaces the value; an identical one notifies no listener. */
  set(value: T): void
}

export function createStore<T>(initial: T): Store<T> {
  const { setState, ...store } = createZustand<T>(() => initial)
  return {
    ...store,
    get: store.getState,
    // Replaces the whole value: zustand would merge objects and call functions.
    set: (value) => setState(() => value, true),
  }
}

/** The store's value; the component renders when it changes. */
export const useStore = <T>(store: Store<T>): T => useZustand(store)

/** A part of the store's value. `select` must return an identical value for an unchanged part. */
export const useStorePart = <T, P>(store: Store<T>, select: (value: T) => P): P => useZustand(store, select)
