import {
  type CollisionDetection,
  DndContext,
  DragOverlay,
  type Modifier,
  MouseSensor,
  TouchSensor,
  useDraggable,
  useDroppable,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import { getEventCoordinates } from '@dnd-kit/utilities'
import {
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react'
import { useStore } from 'zustand'
import type { StoreApi } from 'zustand/vanilla'
import { SILENT_DRAG } from '../../../../ui/silent-drag.ts'
import styles from './calendar.module.css'
import { DAY_MINUTES } from './events.ts'
import { type Drag, type DragSubject, type Slot, snapMinute } from './moves.ts'

/** Id of the only draggable and the only droppable: the calendar. */
const CALENDAR_ID = 'calendar'

/** State shared by the calendar and `CalendarDragging`, which is mounted beside it. */
export interface DragState {
  /** True once the pointer came near: `CalendarDragging` is mounted from then on. */
  isNeeded: boolean
  /** The mouse button or finger that is down on something draggable; a drag starts when the pointer moves on. */
  press: { subject: DragSubject; event: SyntheticEvent } | null
  /** The current drag; replaced whenever the pointer enters another slot. */
  drag: Drag | null
}

interface CalendarDraggingProps {
  store: StoreApi<DragState>
  /** The element that contains all days. */
  root: RefObject<HTMLElement | null>
  onDrop: (drag: Drag) => void
  /** Follows the pointer. */
  overlay: ReactNode
}

/**
 * Drags calendar events by mouse or finger. Slots are elements with `data-day`; in those with `data-hours` the pointer's
 * height gives the minute. Escape cancels.
 *
 * The whole calendar is one draggable and one droppable: a dnd-kit hook in each event and day would re-render all of
 * them on each move.
 */
export function CalendarDragging({ store, root, onDrop, overlay }: CalendarDraggingProps): ReactNode {
  const sensors = useSensors(
    // A press becomes a drag after this distance.
    useSensor(MouseSensor, { activationConstraint: { distance: 4 } }),
    // A finger scrolls unless it rests first.
    useSensor(TouchSensor, { activationConstraint: { delay: 350, tolerance: 4 } }),
  )
  const released = useRef<Point | null>(null)

  /** Drops at the point of the release, because the last move may not have rendered yet. */
  function drop(): void {
    if (released.current && root.current) moveTo(slotAt(root.current, released.current))
    const { drag } = store.getState()
    store.setState({ drag: null, press: null })
    if (drag) onDrop(drag)
  }

  const onRelease = useEffectEvent(() => {
    // dnd-kit reports no end if the button is released before its start has rendered, as on a busy machine.
    if (store.getState().drag) drop()
  })

  useEffect(() => {
    const onPointerUp = (event: PointerEvent) => {
      released.current = { x: event.clientX, y: event.clientY }
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !store.getState().drag) return
      // dnd-kit cancels the drag, but the record panel must stay open, and releasing the button must not click.
      event.preventDefault()
      window.addEventListener('pointerup', swallowClick, { once: true })
    }
    // Bubbling, so that they come after dnd-kit's own on the document.
    const release = () => onRelease()
    const cancel = () => store.setState({ drag: null })
    window.addEventListener('mouseup', release)
    window.addEventListener('touchend', release)
    window.addEventListener('touchcancel', cancel)
    window.addEventListener('pointerup', onPointerUp, true)
    window.addEventListener('keydown', onKeyDown, true)
    return () => {
      window.removeEventListener('mouseup', release)
      window.removeEventListener('touchend', release)
      window.removeEventListener('touchcancel', cancel)
      window.removeEventListener('pointerup', onPointerUp, true)
      window.removeEventListener('keydown', onKeyDown, true)
    }
  }, [store])

  const findSlot: CollisionDetection = ({ pointerCoordinates }) => {
    const element = root.current
    if (!element || !pointerCoordinates || !isInside(element, pointerCoordinates)) return []
    return [{ id: CALENDAR_ID, data: { slot: slotAt(element, pointerCoordinates) } }]
  }

  function moveTo(slot: Slot | null): void {
    const { drag } = store.getState()
    if (drag && !isSame(drag.slot, slot)) store.setState({ drag: { ...drag, slot } })
  }

  return (
    <DndContext
      sensors={sensors}
      collisionDetection={findSlot}
      accessibility={SILENT_DRAG}
      autoScroll={{ acceleration: 6, canScroll: (element) => root.current?.contains(element) === true }}
      onDragStart={({ activatorEvent }) => {
        const { press } = store.getState()
        const from = getEventCoordinates(activatorEvent)
        if (!press || !from || !root.current) return
        const { subject } = press
        const origin = subject.kind === 'schedule' ? null : slotAt(root.current, from)
        store.setState({ drag: { subject, origin, slot: origin } })
      }}
      onDragMove={({ collisions }) => moveTo(collisions?.[0]?.data?.slot ?? null)}
      onDragEnd={drop}
      onDragCancel={() => store.setState({ drag: null, press: null })}
    >
      <CalendarSurface store={store} root={root} />
      <DragOverlay
        className={styles.overlay}
        style={{ width: 'auto', height: 'auto', zIndex: 'var(--layer-toast)' }}
        dropAnimation={null}
        modifiers={[snapToPointer]}
      >
        {overlay}
      </DragOverlay>
    </DndContext>
  )
}

/** Registers the calendar with dnd-kit and passes presses on to its sensors. */
function CalendarSurface({ store, root }: Pick<CalendarDraggingProps, 'store' | 'root'>): ReactNode {
  const { setNodeRef: setDraggable, listeners } = useDraggable({ id: CALENDAR_ID })
  const { setNodeRef: setDroppable } = useDroppable({ id: CALENDAR_ID })
  const press = useStore(store, (state) => state.press)
  const latest = useRef(listeners)
  latest.current = listeners
  useLayoutEffect(() => {
    if (!press) return
    setDraggable(root.current)
    // dnd-kit scrolls the containers around the droppable.
    setDroppable(root.current?.querySelector<HTMLElement>('[data-day]') ?? null)
    const { event } = press
    latest.current?.[event.type === 'touchstart' ? 'onTouchStart' : 'onMouseDown']?.(event)
  }, [press, root, setDraggable, setDroppable])
  return null
}

interface Point {
  x: number
  y: number
}

/** Places the overlay at the pointer instead of over the calendar, which dnd-kit takes for the dragged element. */
const snapToPointer: Modifier = ({ active, activatorEvent, transform }) => {
  const from = activatorEvent && getEventCoordinates(activatorEvent)
  const box = active?.rect.current.initial
  if (!from || !box) return transform
  return { ...transform, x: transform.x + from.x - box.left, y: transform.y + from.y - box.top }
}

const isSame = (a: Slot | null, b: Slot | null): boolean => a?.day === b?.day && a?.minute === b?.minute

const isInside = (root: HTMLElement, { x, y }: Point): boolean =>
  root.contains(document.elementFromPoint(x, y))

/** The slot at a point in the window, even below an event; null outside the days. */
function slotAt(root: HTMLElement, { x, y }: Point): Slot | null {
  const elements = isInside(root, { x, y }) ? document.elementsFromPoint(x, y) : []
  const cell = elements.find((element) => element instanceof HTMLElement && element.dataset.day !== undefined)
  if (!(cell instanceof HTMLElement) || cell.dataset.day === undefined) return null
  if (cell.dataset.hours === undefined) return { day: cell.dataset.day, minute: null }
  const box = cell.getBoundingClientRect()
  return { day: cell.dataset.day, minute: snapMinute(((y - box.top) / box.height) * DAY_MINUTES) }
}

/** Suppresses the click that follows a release. */
function swallowClick(): void {
  const stop = (event: Event) => event.stopPropagation()
  window.addEventListener('click', stop, { capture: true, once: true })
  setTimeout(() => window.removeEventListener('click', stop, { capture: true }))
}
