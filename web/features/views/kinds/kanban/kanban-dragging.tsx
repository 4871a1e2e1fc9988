import {
  DndContext,
  DragOverlay,
  PointerSensor,
  type PointerSensorProps,
  useDndMonitor,
  useDraggable,
  useDroppable,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import { useStore } from 'zustand'
import { direction } from '../../../../i18n.ts'
import { SILENT_DRAG } from '../../../../ui/silent-drag.ts'
import { RecordCard } from '../../cards/record-card.tsx'
import styles from './kanban.module.css'
import { useKanbanContext } from './kanban-context.ts'
import { type Drag, type KanbanDrag, keyOfStack } from './kanban-drag.ts'
import { dropIndexAmong, nearestStack } from './kanban-geometry.ts'
import { StackName } from './stack-head.tsx'
import type { Stack } from './stacks.ts'

/** A mouse press becomes a drag after this distance; a touch, which scrolls otherwise, after this time in one place. */
const MOUSE_DRAG = { distance: 6 }
const TOUCH_DRAG = { delay: 320, tolerance: 10 }

/** Not dnd-kit's `TouchSensor`: its events end when the pressed card is unmounted, as auto-scroll may do. */
class KanbanSensor extends PointerSensor {
  constructor(props: PointerSensorProps) {
    const isTouch = props.event instanceof PointerEvent && props.event.pointerType === 'touch'
    const activationConstraint = isTouch ? TOUCH_DRAG : MOUSE_DRAG
    super({ ...props, options: { ...props.options, activationConstraint } })
  }
}

/** Stacks and cards are virtualised: one draggable is set to the pressed element, one droppable to the hovered stack. */
const PRESSED = 'pressed'
const HOVERED = 'hovered'

interface KanbanDraggingProps {
  drag: KanbanDrag
  root: RefObject<HTMLElement | null>
  /** The shown stacks. */
  stacks: readonly Stack[]
}

/** Drag and drop of cards and stacks. Rendered beside the stacks, so that loading it late remounts none of them. */
export function KanbanDragging({ drag, root, stacks }: KanbanDraggingProps): ReactNode {
  const sensors = useSensors(useSensor(KanbanSensor))
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={() => [{ id: HOVERED }]}
      autoScroll={{
        threshold: { x: 0, y: 0.1 },
        canScroll: (element) => root.current?.contains(element) ?? false,
      }}
      accessibility={SILENT_DRAG}
    >
      <PointerDrag drag={drag} root={root} />
      <DragOverlay dropAnimation={null} className={styles.dragOverlay}>
        <Dragged drag={drag} stacks={stacks} />
      </DragOverlay>
    </DndContext>
  )
}

function PointerDrag({ drag, root }: Pick<KanbanDraggingProps, 'drag' | 'root'>): ReactNode {
  const { current, pressed } = drag
  const { setNodeRef: setPressed, listeners } = useDraggable({ id: PRESSED })
  const { setNodeRef: setHovered } = useDroppable({ id: HOVERED })
  const pointer = useRef({ x: 0, y: 0 })
  const isDragging = useStore(current, (state) => state !== null)

  useEffect(() => {
    function start() {
      const press = pressed.getState()
      if (!press) return
      setPressed(press.element)
      listeners?.onPointerDown?.(press.event)
    }
    start()
    return pressed.subscribe(start)
  }, [pressed, setPressed, listeners])

  /** Drops at the point of the release, because the last move may not have rendered yet. */
  function drop(): void {
    update()
    const dropped = current.getState()
    current.setState(null, true)
    if (dropped) drag.drop(dropped)
  }

  const onRelease = useEffectEvent(() => {
    // dnd-kit reports no end if the button is released before its start has rendered, as on a busy machine.
    if (current.getState()) drop()
  })

  useEffect(() => {
    const follow = ({ clientX: x, clientY: y }: PointerEvent) => {
      pointer.current = { x, y }
    }
    // Bubbling, so that it comes after dnd-kit's own on the document.
    const release = () => onRelease()
    const cancel = () => current.setState(null, true)
    window.addEventListener('pointermove', follow, true)
    window.addEventListener('pointerup', follow, true)
    window.addEventListener('pointerup', release)
    window.addEventListener('pointercancel', cancel)
    return () => {
      window.removeEventListener('pointermove', follow, true)
      window.removeEventListener('pointerup', follow, true)
      window.removeEventListener('pointerup', release)
      window.removeEventListener('pointercancel', cancel)
    }
  }, [current])

  useEffect(() => {
    const element = root.current
    if (!isDragging || !element) return
    // Escape cancels the drag; other handlers ignore keys that are prevented.
    const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && event.preventDefault()
    window.addEventListener('keydown', onKeyDown, true)
    const stopScrolling = scrollAtEdges(element, pointer)
    return () => {
      window.removeEventListener('keydown', onKeyDown, true)
      stopScrolling()
    }
  }, [isDragging, root])

  /** Also called while a list scrolls below a pointer that rests. */
  function update(): void {
    const before = current.getState()
    const element = root.current
    if (!before || !element) return
    const stacks = [...element.querySelectorAll<HTMLElement>('[data-stack]')]
    const stack = stacks[nearestStack(stacks.map(sidesOf), pointer.current.x)]
    if (!stack) return
    setHovered(stack.querySelector<HTMLElement>('[role="list"]') ?? stack)
    const next =
      before.kind === 'cards'
        ? dragCardsOver(drag, before, stack, pointer.current.y)
        : { ...before, over: stackTarget(stack, pointer.current.x) }
    if (JSON.stringify(next) !== JSON.stringify(before)) current.setState(next, true)
  }

  useDndMonitor({
    onDragStart() {
      const press = pressed.getState()
      if (!press) return
      current.setState(press.drag, true)
      update()
    },
    onDragMove: update,
    onDragEnd: drop,
    onDragCancel: () => current.setState(null, true),
  })
  return null
}

/** The elements under the pointer while it drags cards or a stack. */
function Dragged({ drag, stacks }: Pick<KanbanDraggingProps, 'drag' | 'stacks'>): ReactNode {
  const { layout, store, fields, cover, coverFit, colorOf, titleOf } = useKanbanContext()
  const dragged = useStore(drag.current)
  const card = drag.pressed.getState()?.element
  if (dragged?.kind === 'stack') {
    const stack = stacks.find(({ key }) => key === dragged.key)
    return (
      stack && (
        <div inert className={styles.draggedStack} data-testid="dragged">
          <StackName stack={stack} by={layout.by} title={titleOf(dragged.key)} />
        </div>
      )
    )
  }
  const row = card?.dataset.card === undefined ? undefined : store.row(JSON.parse(card.dataset.card))
  if (!dragged || !row) return null
  return (
    <div
      inert
      className={styles.dragged}
      data-testid="dragged"
      data-count={dragged.ids.length > 1 ? dragged.ids.length : undefined}
    >
      <RecordCard
        row={row}
        fields={fields}
        width={card?.clientWidth ?? 0}
        cover={cover}
        coverFit={coverFit}
        color={colorOf?.(row) ?? null}
        hidesEmpty
      />
      {dragged.hint !== null && <p>{dragged.hint}</p>}
    </div>
  )
}

function dragCardsOver(
  { dropIndex, hint }: KanbanDrag,
  drag: Extract<Drag, { kind: 'cards' }>,
  stack: HTMLElement,
  y: number,
): Drag {
  const key = keyOfStack(stack)
  const list = stack.querySelector<HTMLElement>('[data-cards]')
  const cards = [...(list?.querySelectorAll<HTMLElement>('[data-card]') ?? [])].map((card) => {
    const { top, bottom } = card.getBoundingClientRect()
    return { index: Number(card.dataset.index), top, bottom }
  })
  const index = dropIndex(drag.ids, key, list ? dropIndexAmong(cards, y) : Number.MAX_SAFE_INTEGER)
  const next = { ...drag, hint: hint(drag.ids, key) }
  if (index === null) return { ...next, over: null }
  if (!list) return { ...next, over: { key, index, lineTop: 0 } }
  const { top } = list.getBoundingClientRect()
  const [first] = cards
  const below = cards.find((card) => card.index === index)
  const lineY = below?.top ?? (first && index < first.index ? top + 6 : (cards.at(-1)?.bottom ?? top) + 8)
  return { ...next, over: { key, index, lineTop: lineY - top + list.scrollTop } }
}

function stackTarget(stack: HTMLElement, x: number): { index: number } {
  const { start, end } = sidesOf(stack)
  const middle = (start + end) / 2
  const isAfter = direction() === 'rtl' ? x < middle : x > middle
  return { index: Number(stack.dataset.index) + (isAfter ? 1 : 0) }
}

function sidesOf(element: HTMLElement): { start: number; end: number } {
  const { left, right } = element.getBoundingClientRect()
  return { start: left, end: right }
}

/** A drag within this distance of an edge scrolls. */
const EDGE_PX = 56
/** Pixels per frame at the edge itself. */
const MAX_STEP_PX = 18

/**
 * Scrolls the kanban sideways while the pointer is near one of its ends, until the returned function is called.
 * dnd-kit scrolls the cards of a stack, but not sideways from right to left, where `scrollLeft` is negative.
 */
function scrollAtEdges(element: HTMLElement, pointer: RefObject<{ x: number; y: number }>): () => void {
  let frame = requestAnimationFrame(step)
  // Scroll snapping would pull the stacks back.
  element.style.scrollSnapType = 'none'
  document.documentElement.style.cursor = 'grabbing'

  function step() {
    const { left, right } = element.getBoundingClientRect()
    const { x } = pointer.current
    const depth = Math.max(x - (right - EDGE_PX), 0) - Math.max(left + EDGE_PX - x, 0)
    element.scrollLeft += Math.round((Math.max(-EDGE_PX, Math.min(EDGE_PX, depth)) / EDGE_PX) * MAX_STEP_PX)
    frame = requestAnimationFrame(step)
  }

  return () => {
    cancelAnimationFrame(frame)
    element.style.scrollSnapType = ''
    document.documentElement.style.cursor = ''
  }
}
