import {
  type PointerEvent as ReactPointerEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import { inViewOrder } from '../../cards/chosen.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-moves.ts'

/** The cards or the stack being dragged, and where they would be dropped; `over` is null where they cannot be. */
export type Drag =
  | {
      kind: 'cards'
      ids: readonly RecordId[]
      /** Shown below the dragged cards, e.g. why they cannot be dropped here. */
      hint: string | null
      over: CardDropTarget | null
    }
  | { kind: 'stack'; key: StackKey; over: StackDropTarget | null }

/** Before the card at `index` of a stack; `lineTop` is the position of the drop line, in px from the top of its cards. */
export interface CardDropTarget {
  key: StackKey
  index: number
  lineTop: number
}

/** Before the stack at `index` of the shown stacks. */
export interface StackDropTarget {
  index: number
}

/** A press on a card or a stack header, which may become a drag. */
interface Press {
  element: HTMLElement
  drag: Drag
  event: ReactPointerEvent
}

export interface KanbanDrag {
  /** The drag in progress. */
  current: StoreApi<Drag | null>
  /** The press in progress; dnd-kit may still be loading. */
  pressed: StoreApi<Press | null>
  /** The index where cards dropped before `index` would be; null if they cannot be dropped in the stack. */
  dropIndex(ids: readonly RecordId[], key: StackKey, index: number): number | null
  /** Why cards cannot be dropped in a stack, or why their position in it is fixed. */
  hint(ids: readonly RecordId[], key: StackKey): string | null
  drop(drag: Drag): void
  onPointerDown(event: ReactPointerEvent): void
}

interface KanbanDragInput {
  move: MoveContext
  root: RefObject<HTMLElement | null>
  mayEdit: boolean
  checkedIds: () => readonly RecordId[]
  /** Moves a stack before the one at `index` of the shown stacks. */
  onMoveStack: (key: StackKey, index: number) => void
  onDropped: (id: RecordId) => void
}

/** Dragging in a kanban: cards within and between stacks, and stacks. `KanbanDragging` follows the pointer. */
export function useKanbanDrag(input: KanbanDragInput): KanbanDrag {
  const latest = useRef(input)
  latest.current = input
  const [current] = useState(() => createStore<Drag | null>(() => null))
  const { root } = input

  useEffect(() => {
    const element = root.current
    // After a long press the browser would still scroll, unless the first move of the finger is prevented.
    const onTouchMove = (event: TouchEvent) => current.getState() && event.preventDefault()
    element?.addEventListener('touchmove', onTouchMove, { passive: false })
    return () => element?.removeEventListener('touchmove', onTouchMove)
  }, [root, current])

  return useMemo((): KanbanDrag => {
    const pressed = createStore<Press | null>(() => null)

    /** The cards dragged together with one, in view order; empty if it may not be moved. */
    function cardsWith(id: RecordId): readonly RecordId[] {
      const { move, mayEdit, checkedIds } = latest.current
      const { store } = move.context
      if (!mayEdit || !store.isSaved(id)) return []
      const checked = checkedIds()
      return checked.includes(id) ? inViewOrder(store.source, checked) : [id]
    }

    function dragOf(element: HTMLElement): Drag | null {
      const { card } = element.dataset
      if (card === undefined) {
        const stack = element.closest<HTMLElement>('[data-stack]')
        return stack && { kind: 'stack', key: keyOfStack(stack), over: null }
      }
      const ids = cardsWith(JSON.parse(card))
      return ids.length > 0 ? { kind: 'cards', ids, hint: null, over: null } : null
    }

    return {
      current,
      pressed,

      onPointerDown(event) {
        const target = event.target instanceof Element ? event.target : null
        const element = target?.closest<HTMLElement>('[data-card], [data-stack-grip]')
        const control = target?.closest('[data-interactive], input, textarea, select')
        if (!element || (control && element.contains(control))) return
        const drag = dragOf(element)
        if (!drag) return
        pressed.setState({ element, drag, event }, true)
        const release = () => pressed.setState(null, true)
        window.addEventListener('pointerup', release, { once: true })
        window.addEventListener('pointercancel', release, { once: true })
      },

      dropIndex(ids, key, index) {
        const { layout, order } = latest.current.move
        const [first] = ids
        if (first === undefined || dropRefusal(latest.current.move, ids, key) !== null) return null
        if (order !== true) return layout.sortedIndexIn(first, key)
        return Math.min(index, layout.loaded.length(layout.loaded.stack(key)))
      },

      hint(ids, key) {
        const { move } = latest.current
        return dropRefusal(move, ids, key) ?? (move.order === true ? null : move.order)
      },

      drop(drag) {
        const { move, onMoveStack, onDropped } = latest.current
        if (!drag.over) return
        if (drag.kind === 'stack') return onMoveStack(drag.key, drag.over.index)
        const { key, index } = drag.over
        // If the card there is not loaded yet, the dropped cards go to the end of the stack.
        moveCards(move, drag.ids, { key, before: cardAhead(move.layout, key, index) ?? null })
        const [first] = drag.ids
        if (first !== undefined) onDropped(first)
      },
    }
  }, [current])
}

/** The key of a stack's element. */
export const keyOfStack = (element: HTMLElement): StackKey => JSON.parse(element.dataset.stack ?? 'null')
