import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { direction, formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { isTyping, letterOf } from '../../../../ui/shortcuts.ts'
import { deleteRecords } from '../../../records/commands/record-commands.ts'
import { can } from '../../../records/context/table-context.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-moves.ts'
import { createFocusStore, type StackHandle } from './kanban-context.ts'
import { type FocusStep, HEAD, stepFocus } from './kanban-geometry.ts'
import type { Stack } from './stacks.ts'

interface KanbanKeysInput {
  move: MoveContext
  focus: KanbanFocus
  /** Visible stacks in order. */
  shown: readonly Stack[]
  mayEdit: boolean
  /** Ids of selected cards, unordered. */
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

/** Keyboard handling of a kanban: arrows move the focus, with Ctrl the card. */
export function useKanbanKeys(input: KanbanKeysInput): (event: KeyboardEvent) => void {
  const latest = useRef(input)
  latest.current = input
  return useCallback((event) => {
    if (event.defaultPrevented || isTyping(event.target) || event.altKey) return
    if (!(event.target instanceof Element) || !event.target.closest('[data-card], [data-stack-head]')) return
    if (onKey(latest.current, event)) event.preventDefault()
  }, [])
}

function onKey(input: KanbanKeysInput, event: KeyboardEvent): boolean {
  const { move, focus, onToggle, onChoose, checkedIds } = input
  const at = focus.position.get()
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
  } else if (letterOf(event) === 'a' && isMod) onChoose(move.layout.loaded.stack(at.key).segments.ids())
  else if (event.key === 'Escape' && checkedIds().length > 0) onChoose([])
  else return false
  return true
}

function stepOf(key: string): FocusStep | undefined {
  const isBack = key === (direction() === 'rtl' ? 'ArrowRight' : 'ArrowLeft')
  if (key === 'ArrowLeft' || key === 'ArrowRight') return isBack ? 'before' : 'after'
  return STEPS[key]
}

function walk({ move, focus, shown }: KanbanKeysInput, step: FocusStep): void {
  const { layout } = move
  const at = focus.position.get()
  if (!at) return
  const stacks = shown.map(({ key, isCollapsed }) => ({
    key,
    count: isCollapsed ? 0 : layout.loaded.length(layout.loaded.stack(key)),
  }))
  const index = at.id === null ? HEAD : (layout.indexIn(at.id) ?? HEAD)
  const next = stepFocus(stacks, { key: at.key, index }, step)
  focus.goTo(next.key, next.index)
}

function moveByKey(input: KanbanKeysInput, id: RecordId, step: FocusStep): void {
  const { move, focus, mayEdit, announce, nameOf } = input
  const { layout } = move
  const to = targetOf(input, id, step)
  if (!mayEdit || !to) return
  const refusal = dropRefusal(move, [id], to.key)
  if (refusal !== null) {
    announce(refusal)
    return
  }
  const before = cardAhead(layout, to.key, to.index)
  if (before === undefined || !moveCards(move, [id], { key: to.key, before })) return
  focus.follow(id)
  const length = layout.loaded.length(layout.loaded.stack(to.key))
  announce(
    m.kanban_card_moved_to({
      card: nameOf(id),
      stack: move.titleOf(to.key),
      n: formatNumber((layout.indexIn(id) ?? 0) + 1),
      count: m.kanban_cards_count({ count: length }),
    }),
  )
}

/** Target stack and index of a card moved by a step. */
function targetOf(
  { move: { layout }, shown }: KanbanKeysInput,
  id: RecordId,
  step: FocusStep,
): { key: StackKey; index: number } | null {
  const key = layout.keyOf(id)
  const index = layout.indexIn(id)
  if (key === undefined || index === undefined) return null
  if (step === 'up') return index === 0 ? null : { key, index: index - 1 }
  const length = (of: StackKey) => layout.loaded.length(layout.loaded.stack(of))
  if (step === 'down') return index + 1 >= length(key) ? null : { key, index: index + 2 }
  const next = shown[shown.findIndex((stack) => stack.key === key) + (step === 'after' ? 1 : -1)]
  return next ? { key: next.key, index: Math.min(index, length(next.key)) } : null
}

/** Scrolls to stacks and cards, and keeps the keyboard focus on one of them. */
export interface KanbanFocus {
  position: ReturnType<typeof createFocusStore>
  register(key: StackKey, handle: StackHandle | null): void
  /** Focuses a card, or the stack's header (`HEAD`). */
  goTo(key: StackKey, index: number): void
  /** Focuses a card at its current position. */
  follow(id: RecordId): void
  /** Scrolls to a card without changing the focus. */
  reveal(key: StackKey, index: number): void
  /** Scrolls to a record's card and makes it the tab stop. */
  show(id: RecordId, key: StackKey, index: number): void
  /** Focuses the kanban again. */
  restore(): void
}

interface KanbanFocusInput {
  root: RefObject<HTMLElement | null>
  layout: StacksLayout
  store: RecordStore
  /** Visible stacks in order. */
  keys: readonly StackKey[]
  revealStack: (key: StackKey) => void
}

/** Keyboard focus of a kanban, which follows its card and moves to a neighbour when the card disappears. */
export function useKanbanFocus(input: KanbanFocusInput): KanbanFocus {
  const [position] = useState(createFocusStore)
  const latest = useRef(input)
  latest.current = input
  const { store } = input

  const focus = useMemo((): KanbanFocus => {
    const handles = new Map<StackKey, StackHandle>()
    const cards = (key: StackKey) => latest.current.layout.loaded.stack(key)

    function reveal(key: StackKey, index: number): void {
      latest.current.revealStack(key)
      handles.get(key)?.reveal(index)
    }

    function set(key: StackKey, id: RecordId | null): void {
      position.set({ key, id }, true)
      const { root, store } = latest.current
      store.setActive(id)
      const selector = id === null ? '[data-stack-head]' : `[data-card="${CSS.escape(JSON.stringify(id))}"]`
      const stack = stackElement(root.current, key)
      const element = stack?.querySelector<HTMLElement>(selector)
      // A card that is not mounted yet takes the focus when it is.
      if (element && position.takeFocus()) element.focus({ preventScroll: true })
    }

    return {
      position,
      reveal,
      register(key, handle) {
        if (handle) handles.set(key, handle)
        else handles.delete(key)
      },
      goTo(key, index) {
        reveal(key, Math.max(0, index))
        set(key, index === HEAD ? null : (cards(key).segments.idAt(index) ?? null))
      },
      follow(id) {
        const { layout, store } = latest.current
        const real = store.realId(id)
        const key = layout.keyOf(real)
        if (key === undefined) return
        reveal(key, layout.indexIn(real) ?? 0)
        set(key, isCollapsed(latest.current.root.current, key) ? null : real)
      },
      show(id, key, index) {
        reveal(key, index)
        position.set({ key, id }, false)
      },
      restore() {
        const at = position.get()
        if (at) set(at.key, at.id)
      },
    }
  }, [position])

  useFocusUpkeep(position, latest, store, focus)
  return focus
}

/** Keeps the focus on its card, or moves it to a neighbour when the card disappears. */
function useFocusUpkeep(
  position: KanbanFocus['position'],
  latest: RefObject<KanbanFocusInput>,
  store: RecordStore,
  focus: KanbanFocus,
): void {
  const { keys } = latest.current
  const lastIndex = useRef(0)
  const hadFocus = useRef(false)

  useEffect(() => {
    const at = position.get()
    const [first] = keys
    if (first !== undefined && (at === null || !keys.includes(at.key)))
      position.set({ key: first, id: null }, false)
    // Cards of a collapsed stack are not focusable.
    else if (at && at.id !== null && isCollapsed(latest.current.root.current, at.key))
      position.set({ key: at.key, id: null }, false)
  }, [position, latest, keys])

  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const { root, layout } = latest.current
      hadFocus.current = root.current?.contains(document.activeElement) ?? false
      // Screen readers focus cards directly.
      const card = hadFocus.current && target instanceof HTMLElement ? target.dataset.card : undefined
      if (card !== undefined) {
        const focused: RecordId = JSON.parse(card)
        const key = layout.keyOf(focused)
        if (key !== undefined && !position.isAt(key, focused)) {
          position.set({ key, id: focused }, false)
          store.setActive(focused)
        }
      }
      const id = position.get()?.id
      if (id != null) lastIndex.current = layout.indexIn(id) ?? lastIndex.current
    }
    const keep = () => {
      const at = position.get()
      if (!at || at.id === null) return
      const { layout } = latest.current
      const real = store.realId(at.id)
      const key = layout.keyOf(real)
      const isLost = hadFocus.current && document.activeElement === document.body
      if (key !== undefined) {
        lastIndex.current = layout.indexIn(real) ?? lastIndex.current
        // The card was moved to another stack and mounted again, for example by undo.
        if (key !== at.key && isFocused(at.id))
          queueMicrotask(() => position.get() === at && focus.follow(real))
        else if (key !== at.key || real !== at.id) position.set({ key, id: real }, isLost)
        return
      }
      const { segments } = layout.loaded.stack(at.key)
      const next = segments.idAt(lastIndex.current) ?? segments.idAt(lastIndex.current - 1) ?? null
      if (hadFocus.current)
        queueMicrotask(
          () =>
            position.get() === at &&
            focus.goTo(at.key, next === null ? HEAD : (layout.indexIn(next) ?? HEAD)),
        )
      else position.set({ key: at.key, id: next }, false)
    }
    document.addEventListener('focusin', onFocus)
    const stop = store.source.subscribe(keep)
    return () => {
      document.removeEventListener('focusin', onFocus)
      stop()
    }
  }, [position, latest, store, focus])
}

const isFocused = (id: RecordId): boolean =>
  document.activeElement instanceof HTMLElement && document.activeElement.dataset.card === JSON.stringify(id)

const stackElement = (root: HTMLElement | null, key: StackKey): HTMLElement | null =>
  root?.querySelector<HTMLElement>(`[data-stack="${CSS.escape(JSON.stringify(key))}"]`) ?? null

const isCollapsed = (root: HTMLElement | null, key: StackKey): boolean =>
  stackElement(root, key)?.dataset.collapsed !== undefined
