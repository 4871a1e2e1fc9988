import { type RefObject, useEffect, useRef, useState } from 'react'
import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../../../src/core/model.ts'
import { direction } from '../../../../i18n.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import { cardAhead, dropRefusal, type MoveContext, moveCards } from './card-moves.ts'
import { dropIndexAmong, nearestStack } from './kanban-geometry.ts'

/** The dragged card or stack and its drop target. */
export type Drag =
  | { kind: 'cards'; ids: readonly RecordId[]; over: CardDropTarget | null }
  | { kind: 'stack'; key: StackKey; over: StackDropTarget | null }

/**
 * Before the card at an index of a stack; `line` is the position of the drop line in pixels from the top of its cards.
 */
interface CardDropTarget {
  key: StackKey
  index: number
  line: number
}

/** Before the stack at an index of the kanban. */
interface StackDropTarget {
  index: number
}

/** Callbacks and lookups that a drag needs from the kanban. */
interface DragHost {
  /** The cards that are dragged together with one; empty if it may not be moved. */
  cardsWith(id: RecordId): readonly RecordId[]
  mayMoveStacks(): boolean
  /** The index of dropped cards in the view's order; null if they cannot be dropped. */
  dropIndex(ids: readonly RecordId[], key: StackKey, index: number): { index: number } | null
  /** Text next to the dragged cards while they are over a stack. */
  hint(ids: readonly RecordId[], key: StackKey): string | null
  drop(drag: Drag): void
}

/** A press becomes a drag after this distance, a touch after resting for this time. */
const START_PX = 6
const LONG_PRESS_MS = 320
const WOBBLE_PX = 10

export type CardDrag = ReturnType<typeof createCardDrag>

/**
 * Drags cards and stacks. React draws only the drop line. The dragged copy follows the pointer outside React, and
 * positions are measured once per frame.
 */
function createCardDrag(host: DragHost) {
  const current = createStore<Drag | null>(() => null)
  let root: HTMLElement | null = null
  let pressed: { target: HTMLElement; x: number; y: number; touch: boolean } | null = null
  let ghost: { element: HTMLElement; hint: HTMLElement; dx: number; dy: number } | null = null
  let pointer = { x: 0, y: 0 }
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function begin(): void {
    if (!pressed) return
    clearTimeout(timer)
    const { target } = pressed
    const head = target.closest<HTMLElement>('[data-stack-grip]')
    const card = target.closest<HTMLElement>('[data-card]')
    const drag = head ? dragOfStack(head) : card ? dragOfCard(card) : null
    if (!drag) {
      stop()
      return
    }
    lift(head ?? card ?? target, drag.kind === 'cards' ? drag.ids.length : 1)
    current.setState(drag, true)
    frame = requestAnimationFrame(step)
  }

  function dragOfCard(card: HTMLElement): Drag | null {
    const ids = host.cardsWith(idOf(card))
    return ids.length > 0 ? { kind: 'cards', ids, over: null } : null
  }

  function dragOfStack(head: HTMLElement): Drag | null {
    const stack = head.closest<HTMLElement>('[data-stack]')
    return stack && host.mayMoveStacks() ? { kind: 'stack', key: keyOf(stack), over: null } : null
  }

  /** Shows a copy of the dragged element above the page. */
  function lift(source: HTMLElement, count: number): void {
    const box = source.getBoundingClientRect()
    const element = document.createElement('div')
    element.className = root?.dataset.ghostClass ?? ''
    element.inert = true
    element.style.inlineSize = `${box.width}px`
    const copy = source.cloneNode(true) as HTMLElement
    for (const one of [copy, ...copy.querySelectorAll<HTMLElement>('*')]) {
      one.removeAttribute('id')
      one.removeAttribute('data-testid')
      one.removeAttribute('data-card')
    }
    element.append(copy)
    if (count > 1) element.dataset.count = String(count)
    const hint = document.createElement('span')
    hint.hidden = true
    element.append(hint)
    document.body.append(element)
    ghost = { element, hint, dx: pressed!.x - box.left, dy: pressed!.y - box.top }
    document.documentElement.style.cursor = 'grabbing'
    // Scroll snapping would interfere with scrolling at the edges.
    if (root) root.style.scrollSnapType = 'none'
  }

  function step(): void {
    const drag = current.getState()
    if (!drag || !root || !ghost) return
    ghost.element.style.transform = `translate(${pointer.x - ghost.dx}px, ${pointer.y - ghost.dy}px)`
    const page = root.getBoundingClientRect()
    const across = scrollStep(pointer.x, page.left, page.right)
    if (across !== 0) root.scrollLeft += across
    const next = drag.kind === 'cards' ? overCards(root, drag) : overStacks(root, drag)
    if (!isSameTarget(drag, next)) current.setState(next, true)
    frame = requestAnimationFrame(step)
  }

  function overCards(layout: HTMLElement, drag: Extract<Drag, { kind: 'cards' }>): Drag {
    const stacks = [...layout.querySelectorAll<HTMLElement>('[data-stack]')]
    const boxes = stacks.map((stack) => boxOf(stack))
    const stack = stacks[nearestStack(boxes, pointer.x)]
    if (!stack) return { ...drag, over: null }
    const key = keyOf(stack)
    showHint(host.hint(drag.ids, key))
    const list = stack.querySelector<HTMLElement>('[data-cards]')
    if (!list) {
      const settled = host.dropIndex(drag.ids, key, Number.MAX_SAFE_INTEGER)
      return { ...drag, over: settled && { key, index: settled.index, line: 0 } }
    }
    const edge = list.getBoundingClientRect()
    list.scrollTop += scrollStep(pointer.y, edge.top, edge.bottom)
    const cards = [...list.querySelectorAll<HTMLElement>('[data-card]')]
    const cardBoxes = cards.map((card) => {
      const { top, bottom } = card.getBoundingClientRect()
      return { index: Number(card.dataset.index), top, bottom }
    })
    const settled = host.dropIndex(drag.ids, key, dropIndexAmong(cardBoxes, pointer.y))
    if (!settled) return { ...drag, over: null }
    const { index } = settled
    const ahead = cardBoxes.find((card) => card.index === index)
    const last = cardBoxes.at(-1)
    const isAbove = cardBoxes[0] !== undefined && index < cardBoxes[0].index
    const y = ahead ? ahead.top : isAbove ? edge.top + 6 : (last?.bottom ?? edge.top) + 8
    return { ...drag, over: { key, index, line: y - edge.top + list.scrollTop } }
  }

  function overStacks(layout: HTMLElement, drag: Extract<Drag, { kind: 'stack' }>): Drag {
    const stacks = [...layout.querySelectorAll<HTMLElement>('[data-stack]')]
    const boxes = stacks.map((stack) => boxOf(stack))
    const at = nearestStack(boxes, pointer.x)
    const box = boxes[at]
    const stack = stacks[at]
    if (!box || !stack) return { ...drag, over: null }
    const isBehind = direction() === 'rtl' ? pointer.x < middle(box) : pointer.x > middle(box)
    return { ...drag, over: { index: Number(stack.dataset.index) + (isBehind ? 1 : 0) } }
  }

  function showHint(text: string | null): void {
    if (!ghost || ghost.hint.textContent === (text ?? '')) return
    ghost.hint.textContent = text ?? ''
    ghost.hint.hidden = text === null
  }

  function stop(): void {
    clearTimeout(timer)
    cancelAnimationFrame(frame)
    ghost?.element.remove()
    ghost = null
    pressed = null
    document.documentElement.style.cursor = ''
    if (root) root.style.scrollSnapType = ''
    current.setState(null, true)
    for (const [name, listener] of HANDLERS) document.removeEventListener(name, listener, true)
  }

  const HANDLERS: [string, (event: Event) => void][] = [
    ['pointermove', (event) => onMove(event as PointerEvent)],
    ['pointerup', () => onUp()],
    ['pointercancel', () => stop()],
    ['keydown', (event) => onKeyDown(event as KeyboardEvent)],
    ['contextmenu', onMenu],
  ]

  function onMove(event: PointerEvent): void {
    pointer = { x: event.clientX, y: event.clientY }
    if (current.getState() || !pressed) return
    const way = Math.hypot(pointer.x - pressed.x, pointer.y - pressed.y)
    // A finger that moves immediately scrolls.
    if (pressed.touch && way > WOBBLE_PX) stop()
    else if (!pressed.touch && way > START_PX) begin()
  }

  function onUp(): void {
    const drag = current.getState()
    if (drag) swallowClick()
    stop()
    if (drag?.over) host.drop(drag)
  }

  /** Suppresses the context menu that some browsers open on a long press, which starts a drag. */
  function onMenu(event: Event): void {
    if (!current.getState()) return
    event.preventDefault()
    event.stopPropagation()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !current.getState()) return
    event.preventDefault()
    event.stopPropagation()
    stop()
  }

  return {
    current,

    /** Listens for presses in the kanban's element; returns a function that stops. */
    attach(element: HTMLElement): () => void {
      root = element
      const onDown = (event: PointerEvent) => {
        const target =
          event.target instanceof HTMLElement || event.target instanceof SVGElement ? event.target : null
        const held = target?.closest<HTMLElement>('[data-card], [data-stack-grip]')
        if (!target || !held || event.button !== 0 || !event.isPrimary) return
        const control = target.closest('[data-interactive], input, textarea, select')
        if (control && held.contains(control)) return
        pressed = { target: held, x: event.clientX, y: event.clientY, touch: event.pointerType === 'touch' }
        pointer = { x: event.clientX, y: event.clientY }
        for (const [name, listener] of HANDLERS) document.addEventListener(name, listener, true)
        if (pressed.touch) timer = setTimeout(begin, LONG_PRESS_MS)
      }
      // Only a `touchmove` listener can keep the browser from scrolling during a drag.
      const onTouchMove = (event: TouchEvent) => current.getState() && event.preventDefault()
      element.addEventListener('pointerdown', onDown)
      element.addEventListener('touchmove', onTouchMove, { passive: false })
      return () => {
        element.removeEventListener('pointerdown', onDown)
        element.removeEventListener('touchmove', onTouchMove)
        stop()
        root = null
      }
    },
  }
}

const idOf = (card: HTMLElement): RecordId => JSON.parse(card.dataset.card ?? 'null')
const keyOf = (stack: HTMLElement): StackKey => JSON.parse(stack.dataset.stack ?? 'null')

function boxOf(element: HTMLElement): { start: number; end: number } {
  const { left, right } = element.getBoundingClientRect()
  return { start: left, end: right }
}

const middle = ({ start, end }: { start: number; end: number }): number => (start + end) / 2

function isSameTarget(a: Drag, b: Drag): boolean {
  if (a.over === null || b.over === null) return a.over === b.over
  const isSameKey = !('key' in a.over && 'key' in b.over) || a.over.key === b.over.key
  const isSameLine = !('line' in a.over && 'line' in b.over) || a.over.line === b.over.line
  return isSameKey && isSameLine && a.over.index === b.over.index
}

/** Suppresses the click on the element below after a drag. */
function swallowClick(): void {
  const swallow = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('click', swallow, { capture: true, once: true })
  setTimeout(() => document.removeEventListener('click', swallow, true))
}

/** Distance from the edge within which a drag scrolls. */
const SCROLL_EDGE_PX = 56
/** Maximum scroll speed in pixels per frame. */
const FASTEST_SCROLL_PX = 18

/** How far to scroll in one frame, for a pointer between two edges. */
function scrollStep(at: number, start: number, end: number): number {
  const before = start + SCROLL_EDGE_PX - at
  const after = at - (end - SCROLL_EDGE_PX)
  if (before > 0) return -Math.ceil((Math.min(before, SCROLL_EDGE_PX) / SCROLL_EDGE_PX) * FASTEST_SCROLL_PX)
  if (after > 0) return Math.ceil((Math.min(after, SCROLL_EDGE_PX) / SCROLL_EDGE_PX) * FASTEST_SCROLL_PX)
  return 0
}

interface KanbanDragInput {
  move: MoveContext
  root: RefObject<HTMLElement | null>
  mayEdit: boolean
  checkedIds: () => readonly RecordId[]
  /** Called when a stack was moved before the one at an index. */
  onMoveStack: (key: StackKey, index: number) => void
  onDropped: (id: RecordId) => void
}

/** Dragging on a kanban: cards within and between stacks, and stacks. */
export function useKanbanDrag(input: KanbanDragInput): CardDrag {
  const latest = useRef(input)
  latest.current = input
  const [drag] = useState(() => createCardDrag(hostOf(() => latest.current)))
  const { root } = input
  useEffect(() => (root.current ? drag.attach(root.current) : undefined), [drag, root])
  return drag
}

function hostOf(get: () => KanbanDragInput): DragHost {
  return {
    cardsWith(id) {
      const { move, mayEdit, checkedIds } = get()
      const { store } = move.context
      if (!mayEdit || !store.isSaved(id)) return []
      const chosen = checkedIds()
      const rowOf = (one: RecordId) => store.source.indexOf(one) ?? Number.MAX_SAFE_INTEGER
      return chosen.includes(id) ? chosen.toSorted((a, b) => rowOf(a) - rowOf(b)) : [id]
    },

    mayMoveStacks: () => true,

    dropIndex(ids, key, index) {
      const { move } = get()
      const { layout, order } = move
      if (dropRefusal(move, ids, key) !== null) return null
      if (order === true) return { index: Math.min(index, layout.loaded.length(layout.loaded.stack(key))) }
      const [first] = ids
      return first === undefined ? null : { index: layout.sortedIndexIn(first, key) }
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
      const before = cardAhead(move.layout, key, index)
      // The target card is not loaded: drops at the end instead.
      const [first] = dropped.ids
      moveCards(move, dropped.ids, { key, before: before ?? null })
      if (first !== undefined) onDropped(first)
    },
  }
}
