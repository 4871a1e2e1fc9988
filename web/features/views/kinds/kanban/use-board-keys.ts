import { type KeyboardEvent, useCallback, useRef } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { direction, formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { isTyping } from '../../../../ui/shortcuts.ts'
import { deleteRecords } from '../../../records/commands/record-commands.ts'
import { can } from '../../../records/context/table-context.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-commands.ts'
import { type FocusStep, HEAD, stepFocus } from './focus.ts'
import type { StackKey } from './stack-by.ts'
import type { Stack } from './stacks.ts'
import type { BoardPlace } from './use-board-place.ts'

interface BoardKeysInput {
  move: MoveContext
  place: BoardPlace
  /** On the board, in order. */
  shown: readonly Stack[]
  mayEdit: boolean
  /** Chosen cards, in no order. */
  checkedIds: () => readonly RecordId[]
  onToggle: (id: RecordId) => void
  onChoose: (ids: readonly RecordId[]) => void
  announce: (text: string) => void
  /** What a card is called. */
  nameOf: (id: RecordId) => string
}

const STEPS: Readonly<Record<string, FocusStep>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
}

/** The keys of a board: from card to card, and with Ctrl the card itself. */
export function useBoardKeys(input: BoardKeysInput): (event: KeyboardEvent) => void {
  const latest = useRef(input)
  latest.current = input
  return useCallback((event) => {
    if (event.defaultPrevented || isTyping(event.target) || event.altKey) return
    if (!(event.target instanceof Element) || !event.target.closest('[data-card], [data-stack-head]')) return
    if (onKey(latest.current, event)) event.preventDefault()
  }, [])
}

function onKey(input: BoardKeysInput, event: KeyboardEvent): boolean {
  const { move, place, onToggle, onChoose, checkedIds } = input
  const at = place.watch.get()
  if (!at) return false
  const { context } = move
  const isMod = event.ctrlKey || event.metaKey
  const step = stepOf(event.key)
  if (step) {
    if (isMod && at.id !== null && step !== 'first' && step !== 'last') moveByKey(input, at.id, step)
    else if (!isMod) walk(input, step)
    else return false
    return true
  }
  if (at.id === null) return false
  if (event.key === ' ' && isMod) onToggle(at.id)
  else if ((event.key === 'Enter' || event.key === ' ') && !isMod) context.openRecord(at.id)
  else if (event.key === 'Delete' && can(context, 'record.delete')) {
    const chosen = checkedIds()
    void deleteRecords(context, chosen.includes(at.id) ? chosen : [at.id])
    onChoose([])
  } else if (event.key.toLowerCase() === 'a' && isMod) onChoose(move.board.lanes.lane(at.key).segments.ids())
  else if (event.key === 'Escape' && checkedIds().length > 0) onChoose([])
  else return false
  return true
}

function stepOf(key: string): FocusStep | undefined {
  const isBack = key === (direction() === 'rtl' ? 'ArrowRight' : 'ArrowLeft')
  if (key === 'ArrowLeft' || key === 'ArrowRight') return isBack ? 'before' : 'after'
  return STEPS[key]
}

function walk({ move, place, shown }: BoardKeysInput, step: FocusStep): void {
  const { board } = move
  const at = place.watch.get()
  if (!at) return
  const stacks = shown.map(({ key, isCollapsed }) => ({
    key,
    count: isCollapsed ? 0 : board.lanes.length(board.lanes.lane(key)),
  }))
  const index = at.id === null ? HEAD : (board.indexIn(at.id) ?? HEAD)
  const next = stepFocus(stacks, { key: at.key, index }, step)
  place.goTo(next.key, next.index)
}

function moveByKey(input: BoardKeysInput, id: RecordId, step: FocusStep): void {
  const { move, place, mayEdit, announce, nameOf } = input
  const { board } = move
  const to = targetOf(input, id, step)
  if (!mayEdit || !to) return
  const refusal = dropRefusal(move, [id], to.key)
  if (refusal !== null) {
    announce(refusal)
    return
  }
  const before = cardAhead(board, to.key, to.index)
  if (before === undefined || !moveCards(move, [id], { key: to.key, before })) return
  place.follow(id)
  const length = board.lanes.length(board.lanes.lane(to.key))
  announce(
    m.kanban_card_moved_to({
      card: nameOf(id),
      stack: move.titleOf(to.key),
      n: formatNumber((board.indexIn(id) ?? 0) + 1),
      count: m.kanban_cards_count({ count: length }),
    }),
  )
}

/** Where a step takes a card: ahead of which index of which stack. */
function targetOf(
  { move: { board }, shown }: BoardKeysInput,
  id: RecordId,
  step: FocusStep,
): { key: StackKey; index: number } | null {
  const key = board.keyOf(id)
  const index = board.indexIn(id)
  if (key === undefined || index === undefined) return null
  if (step === 'up') return index === 0 ? null : { key, index: index - 1 }
  const length = (of: StackKey) => board.lanes.length(board.lanes.lane(of))
  if (step === 'down') return index + 1 >= length(key) ? null : { key, index: index + 2 }
  const next = shown[shown.findIndex((stack) => stack.key === key) + (step === 'after' ? 1 : -1)]
  return next ? { key: next.key, index: Math.min(index, length(next.key)) } : null
}
