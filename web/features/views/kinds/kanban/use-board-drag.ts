import { type RefObject, useEffect, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { dropRefusal, type MoveContext, moveCards } from './card-commands.ts'
import { type CardDrag, createCardDrag, type Drag, type DragHost } from './drag.ts'
import type { StackKey } from './stack-by.ts'

interface BoardDragInput {
  move: MoveContext
  root: RefObject<HTMLElement | null>
  mayEdit: boolean
  checkedIds: () => readonly RecordId[]
  /** The stack now stands ahead of the one at an index of the board. */
  onMoveStack: (key: StackKey, index: number) => void
  onDropped: (id: RecordId) => void
}

/** Dragging on a board: cards between stacks, and stacks. */
export function useBoardDrag(input: BoardDragInput): CardDrag {
  const latest = useRef(input)
  latest.current = input
  const [drag] = useState(() => createCardDrag(hostOf(() => latest.current)))
  const { root } = input
  useEffect(() => (root.current ? drag.attach(root.current) : undefined), [drag, root])
  return drag
}

function hostOf(get: () => BoardDragInput): DragHost {
  return {
    cardsWith(id) {
      const { move, mayEdit, checkedIds } = get()
      const { store } = move.context
      if (!mayEdit || !store.isSaved(id)) return []
      const chosen = checkedIds()
      const place = (one: RecordId) => store.source.indexOf(one) ?? Number.MAX_SAFE_INTEGER
      return chosen.includes(id) ? chosen.toSorted((a, b) => place(a) - place(b)) : [id]
    },

    mayMoveStacks: () => true,

    settle(ids, key) {
      const { move } = get()
      if (dropRefusal(move, ids, key) !== null) return null
      const [first] = ids
      return first === undefined ? null : { index: move.board.placeIn(first, key) }
    },

    hint(ids, key) {
      const { move } = get()
      return dropRefusal(move, ids, key) ?? move.order
    },

    drop(dropped: Drag) {
      const { move, onMoveStack, onDropped } = get()
      if (!dropped.over) return
      if (dropped.kind === 'stack') return onMoveStack(dropped.key, dropped.over.index)
      const { key } = dropped.over
      const [first] = dropped.ids
      moveCards(move, dropped.ids, key)
      if (first !== undefined) onDropped(first)
    },
  }
}
