import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { direction, formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { Board } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { isTyping } from '../../../../ui/shortcuts.ts'
import { deleteRecords } from '../../../records/commands/record-commands.ts'
import { can } from '../../../records/context/table-context.ts'
import { createPlaceWatch, type StackHandle } from './board-context.ts'
import { type FocusStep, HEAD, stepFocus } from './board-geometry.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-moves.ts'
import type { Stack } from './stacks.ts'

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
  /** Title of a card. */
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

/** Brings stacks and cards in sight, and keeps the keyboard on one of them. */
export interface BoardPlace {
  watch: ReturnType<typeof createPlaceWatch>
  register(key: StackKey, handle: StackHandle | null): void
  /** Goes to a card, or to the head of the stack (`HEAD`). */
  goTo(key: StackKey, index: number): void
  /** Goes to a card wherever it stands by now. */
  follow(id: RecordId): void
  /** Brings a card in sight, and leaves the focus where it is. */
  reveal(key: StackKey, index: number): void
  /** Brings a record's card in sight, where the keyboard will be once it comes back to the board. */
  show(id: RecordId, key: StackKey, index: number): void
  /** Gives the board the keyboard back. */
  focus(): void
}

interface PlaceInput {
  root: RefObject<HTMLElement | null>
  board: Board
  store: RecordStore
  /** Stacks on the board, in order. */
  keys: readonly StackKey[]
  revealStack: (key: StackKey) => void
}

/** Where the keyboard is on a board; it stays with its card when that moves, and with its neighbour when it goes. */
export function useBoardPlace(input: PlaceInput): BoardPlace {
  const [watch] = useState(createPlaceWatch)
  const latest = useRef(input)
  latest.current = input
  const { store } = input

  const place = useMemo((): BoardPlace => {
    const handles = new Map<StackKey, StackHandle>()
    const lane = (key: StackKey) => latest.current.board.lanes.lane(key)

    function reveal(key: StackKey, index: number): void {
      latest.current.revealStack(key)
      handles.get(key)?.reveal(index)
    }

    function set(key: StackKey, id: RecordId | null): void {
      watch.set({ key, id }, true)
      const { root, store } = latest.current
      store.setActive(id)
      const selector = id === null ? '[data-stack-head]' : `[data-card="${CSS.escape(JSON.stringify(id))}"]`
      const stack = stackElement(root.current, key)
      const element = stack?.querySelector<HTMLElement>(selector)
      // One that is not drawn yet takes the focus itself as soon as it is.
      if (element && watch.takeFocus()) element.focus({ preventScroll: true })
    }

    return {
      watch,
      reveal,
      register(key, handle) {
        if (handle) handles.set(key, handle)
        else handles.delete(key)
      },
      goTo(key, index) {
        reveal(key, Math.max(0, index))
        set(key, index === HEAD ? null : (lane(key).segments.idAt(index) ?? null))
      },
      follow(id) {
        const { board, store } = latest.current
        const real = store.realId(id)
        const key = board.keyOf(real)
        if (key === undefined) return
        reveal(key, board.indexIn(real) ?? 0)
        set(key, isCollapsed(latest.current.root.current, key) ? null : real)
      },
      show(id, key, index) {
        reveal(key, index)
        watch.set({ key, id }, false)
      },
      focus() {
        const at = watch.get()
        if (at) set(at.key, at.id)
      },
    }
  }, [watch])

  useKept(watch, latest, store, place)
  return place
}

/** The place follows its card, and goes to a neighbour when the card is gone. */
function useKept(
  watch: BoardPlace['watch'],
  latest: RefObject<PlaceInput>,
  store: RecordStore,
  place: BoardPlace,
): void {
  const { keys } = latest.current
  const lastIndex = useRef(0)
  const hadFocus = useRef(false)

  useEffect(() => {
    const at = watch.get()
    const [first] = keys
    if (first !== undefined && (at === null || !keys.includes(at.key)))
      watch.set({ key: first, id: null }, false)
    // The cards of a stack that was collapsed cannot be reached any more.
    else if (at && at.id !== null && isCollapsed(latest.current.root.current, at.key))
      watch.set({ key: at.key, id: null }, false)
  }, [watch, latest, keys])

  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const { root, board } = latest.current
      hadFocus.current = root.current?.contains(document.activeElement) ?? false
      // A screen reader focuses cards itself, past the keys of the board.
      const card = hadFocus.current && target instanceof HTMLElement ? target.dataset.card : undefined
      if (card !== undefined) {
        const focused: RecordId = JSON.parse(card)
        const key = board.keyOf(focused)
        if (key !== undefined && !watch.isAt(key, focused)) {
          watch.set({ key, id: focused }, false)
          store.setActive(focused)
        }
      }
      const id = watch.get()?.id
      if (id != null) lastIndex.current = board.indexIn(id) ?? lastIndex.current
    }
    const keep = () => {
      const at = watch.get()
      if (!at || at.id === null) return
      const { board } = latest.current
      const real = store.realId(at.id)
      const key = board.keyOf(real)
      const isLost = hadFocus.current && document.activeElement === document.body
      if (key !== undefined) {
        lastIndex.current = board.indexIn(real) ?? lastIndex.current
        // In another stack it is drawn anew: undo and its like took it there under the keyboard.
        if (key !== at.key && isFocused(at.id)) queueMicrotask(() => watch.get() === at && place.follow(real))
        else if (key !== at.key || real !== at.id) watch.set({ key, id: real }, isLost)
        return
      }
      const { segments } = board.lanes.lane(at.key)
      const next = segments.idAt(lastIndex.current) ?? segments.idAt(lastIndex.current - 1) ?? null
      if (hadFocus.current)
        queueMicrotask(
          () =>
            watch.get() === at && place.goTo(at.key, next === null ? HEAD : (board.indexIn(next) ?? HEAD)),
        )
      else watch.set({ key: at.key, id: next }, false)
    }
    document.addEventListener('focusin', onFocus)
    const stop = store.source.subscribe(keep)
    return () => {
      document.removeEventListener('focusin', onFocus)
      stop()
    }
  }, [watch, latest, store, place])
}

const isFocused = (id: RecordId): boolean =>
  document.activeElement instanceof HTMLElement && document.activeElement.dataset.card === JSON.stringify(id)

const stackElement = (root: HTMLElement | null, key: StackKey): HTMLElement | null =>
  root?.querySelector<HTMLElement>(`[data-stack="${CSS.escape(JSON.stringify(key))}"]`) ?? null

const isCollapsed = (root: HTMLElement | null, key: StackKey): boolean =>
  stackElement(root, key)?.dataset.collapsed !== undefined
