import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import type { CheckedRows } from '../../../../grid/contract.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { CardFields } from '../../cards/card-fields.ts'
import type { ColorOf } from '../../coloring/row-colors.ts'
import type { KanbanDrag } from './kanban-drag.ts'
import type { Stack } from './stacks.ts'

/** Scroll interface of a stack. */
export interface StackHandle {
  reveal(index: number): void
}

/** State of a new card being named. */
export interface ComposerState {
  key: StackKey
  at: 'top' | 'bottom'
  text: string
}

/** Context value shared by all stacks and cards of a kanban. Memoised by `useKanbanContextValue`. */
export interface KanbanContext {
  layout: StacksLayout
  store: RecordStore
  drag: KanbanDrag
  focus: FocusStore
  fields: CardFields
  cover: Field | null
  coverFit: 'fit' | 'crop'
  colorOf: ColorOf | null
  checked: CheckedRows
  /** The open record. */
  openId: RecordId | null
  /** True if cards can be created in the stack. */
  mayAdd(key: StackKey): boolean
  mayEdit: boolean
  titleOf(key: StackKey): string
  /** The stack's summary as text; null without a summary. */
  summaryOf(stack: Stack): { label: string; value: string } | null
  composer: ComposerState | null
  onCompose(composer: ComposerState | null): void
  onAdd(key: StackKey, at: 'top' | 'bottom'): void
  /** Creates a card with the typed name; returns an error message for an invalid one. */
  onName(key: StackKey, at: 'top' | 'bottom', text: string): string | null
  /** Reports the current text of the composer on each input. */
  onTyped(text: string): void
  onStackMenu(key: StackKey, anchor: Element | { x: number; y: number }): void
  onExpand(key: StackKey): void
  register(key: StackKey, handle: StackHandle | null): void
}

const Context = createContext<KanbanContext | null>(null)

/** Provides the shared context to stacks and cards. */
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

/** The position of the keyboard focus; each header and card subscribes to whether it has it. */
type FocusStore = ReturnType<typeof createFocusStore>

/** Store of the card or stack header that is the tab stop; focuses it once it is mounted. */
export function createFocusStore() {
  const store = createStore<FocusPosition | null>(() => null)
  let wantsFocus = false

  return {
    get: store.getState,

    /** `focus`: focuses the element, now or as soon as it is mounted. */
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

    /** True once for the element that must take the focus. */
    takeFocus(): boolean {
      const was = wantsFocus
      wantsFocus = false
      return was
    },

    subscribe: store.subscribe,
  }
}
