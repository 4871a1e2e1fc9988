import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import type { CheckedRows } from '../../../../grid/contract.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { CardFields } from '../../cards/card-fields.ts'
import type { ColorOf } from '../../coloring/row-color.ts'
import type { CardDrag } from './kanban-drag.ts'
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

/** Context value shared by all stacks and cards of a kanban. Memoised by `useKanbanContextValue`. */
export interface KanbanContext {
  layout: StacksLayout
  store: RecordStore
  drag: CardDrag
  focus: FocusStore
  fields: CardFields
  cover: Field | null
  coverFit: 'fit' | 'crop'
  colorOf: ColorOf | null
  checked: CheckedRows
  /** The record that is open beside the kanban. */
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

const Context = createContext<KanbanContext | null>(null)

/** Gives the stacks below it what they share. */
export const KanbanProvider = Context.Provider

/** Returns the context value of the surrounding kanban. Throws outside a `KanbanProvider`. */
export function useKanbanContext(): KanbanContext {
  const kanban = useContext(Context)
  if (!kanban) throw new Error('There is no kanban around this')
  return kanban
}

/** Position of the keyboard focus: a card, or the header of its stack (`id` is null). */
interface FocusPosition {
  key: StackKey
  id: RecordId | null
}

/** The position of the keyboard focus; each head and card follows whether it is its own. */
type FocusStore = ReturnType<typeof createFocusStore>

/** Keeps the one card or stack header that Tab reaches, and gives it the focus once it is drawn. */
export function createFocusStore() {
  const store = createStore<FocusPosition | null>(() => null)
  let wantsFocus = false

  return {
    get: store.getState,

    /** `focus`: the element takes the focus, now or as soon as it is drawn. */
    set(next: FocusPosition | null, focus: boolean): void {
      wantsFocus = focus
      const position = store.getState()
      if (position?.key === next?.key && position?.id === next?.id && !focus) return
      store.setState(next && { ...next }, true)
    },

    isAt(key: StackKey, id: RecordId | null): boolean {
      const position = store.getState()
      return position?.key === key && position.id === id
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
