import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { StackKey } from './stack-by.ts'

/** Where the keyboard is: on a card, or on the head of its stack (`id` is null). */
export interface KeyboardPlace {
  key: StackKey
  id: RecordId | null
}

/** The keyboard's place; each head and card follows whether it is its own. */
export type PlaceWatch = ReturnType<typeof createPlaceWatch>

/** Keeps the one place of a board that Tab reaches, and gives it the focus once it is drawn. */
export function createPlaceWatch() {
  const store = createStore<KeyboardPlace | null>(() => null)
  let wantsFocus = false

  return {
    get: store.getState,

    /** `focus`: the element takes the focus, now or as soon as it is drawn. */
    set(next: KeyboardPlace | null, focus: boolean): void {
      wantsFocus = focus
      const place = store.getState()
      if (place?.key === next?.key && place?.id === next?.id && !focus) return
      store.setState(next && { ...next }, true)
    },

    isAt(key: StackKey, id: RecordId | null): boolean {
      const place = store.getState()
      return place?.key === key && place.id === id
    },

    /** True once for the element that the focus is meant for. */
    takeFocus(): boolean {
      const was = wantsFocus
      wantsFocus = false
      return was
    },

    subscribe: store.subscribe,
  }
}
