import { type RefObject, useEffect, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-commands.ts'
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

/** Dragging on a board: cards within and between stacks, and stacks. */
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

    settle(ids, key, index) {
      const { move } = get()
      const { board, order } = move
      if (dropRefusal(move, ids, key) !== null) return null
      if (order === true) return { index: Math.min(index, board.lanes.length(board.lanes.lane(key))) }
      const [first] = ids
      return first === undefined ? null : { index: board.placeIn(first, key) }
    },

    hint(ids, key) {
      const { move } = get()
      const refusal = dropRefusal(move, ids, key)
      return refusal ?? (move.order === true ? null : move.order)
    },

    drop(dropped: Drag) {
      const { move, onMoveStack, onDropped } = get()
      if (!dropped.over) return
      if (dropped.kind === 'stack') return onMoveStack(dropped.key, dropped.over.index)
      const { key, index } = dropped.over
      const before = cardAhead(move.board, key, index)
      // The card there is still being read: at its end is better than lost.
      const [first] = dropped.ids
      moveCards(move, dropped.ids, { key, before: before ?? null })
      if (first !== undefined) onDropped(first)
    },
  }
}
