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
  const listeners = new Set<() => void>()
  let place: KeyboardPlace | null = null
  let wantsFocus = false

  function tell(): void {
    for (const listener of [...listeners]) listener()
  }

  return {
    get: (): KeyboardPlace | null => place,

    /** `focus`: the element takes the focus, now or as soon as it is drawn. */
    set(next: KeyboardPlace | null, focus: boolean): void {
      wantsFocus = focus
      if (place?.key === next?.key && place?.id === next?.id && !focus) return
      place = next
      tell()
    },

    isAt: (key: StackKey, id: RecordId | null): boolean => place?.key === key && place.id === id,

    /** True once for the element that the focus is meant for. */
    takeFocus(): boolean {
      const was = wantsFocus
      wantsFocus = false
      return was
    },

    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
