import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import type { CheckedRows } from '../../../../grid/contract.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { Board } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { CardFields } from '../../cards/card-fields.ts'
import type { ColorOf } from '../../coloring/row-color.ts'
import type { CardDrag } from './board-drag.ts'
import type { Stack } from './stacks.ts'

/** How a stack is brought to show a card of it. */
export interface StackHandle {
  reveal(index: number): void
}

/** A new card that is being named. */
export interface ComposerState {
  key: StackKey
  at: 'top' | 'bottom'
  text: string
}

/** Context value shared by all stacks and cards of a board. Memoised by `useBoardParts`. */
export interface BoardParts {
  board: Board
  store: RecordStore
  drag: CardDrag
  place: PlaceWatch
  fields: CardFields
  cover: Field | null
  coverFit: 'fit' | 'crop'
  colorOf: ColorOf | null
  checked: CheckedRows
  /** The record that is open beside the board. */
  openId: RecordId | null
  /** True where a new card may be made in the stack. */
  mayAdd(key: StackKey): boolean
  mayEdit: boolean
  titleOf(key: StackKey): string
  /** The stack's summary in words; null where none is shown. */
  summaryOf(stack: Stack): { label: string; value: string } | null
  composer: ComposerState | null
  onCompose(composer: ComposerState | null): void
  onAdd(key: StackKey, at: 'top' | 'bottom'): void
  /** Stores what was typed as a new card; gives why it cannot be one. */
  onName(key: StackKey, at: 'top' | 'bottom', text: string): string | null
  /** Reports the current text of the composer on each input. */
  onTyped(text: string): void
  onStackMenu(key: StackKey, anchor: Element | { x: number; y: number }): void
  onExpand(key: StackKey): void
  register(key: StackKey, handle: StackHandle | null): void
}

const Context = createContext<BoardParts | null>(null)

/** Gives the stacks below it what they share. */
export const BoardProvider = Context.Provider

/** Returns the context value of the surrounding board. Throws outside a `BoardProvider`. */
export function useParts(): BoardParts {
  const parts = useContext(Context)
  if (!parts) throw new Error('There is no board around this')
  return parts
}

/** Where the keyboard is: on a card, or on the head of its stack (`id` is null). */
interface KeyboardPlace {
  key: StackKey
  id: RecordId | null
}

/** The keyboard's place; each head and card follows whether it is its own. */
type PlaceWatch = ReturnType<typeof createPlaceWatch>

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
