import { closestCenter, DndContext, PointerSensor, useSensor, useSensors } from '@dnd-kit/core'
import {
  rectSortingStrategy,
  SortableContext,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { CSS, getEventCoordinates } from '@dnd-kit/utilities'
import {
  type CSSProperties,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react'
import { useStore } from 'zustand'
import type { StoreApi } from 'zustand/vanilla'

/** Style of an item during a drag in its list. */
interface ItemDrag {
  style: CSSProperties
  listeners: { onPointerDown?: (event: PointerEvent) => void }
  isDragging: boolean
}

/** State shared by a list, its items and `SortableDragging`, which is mounted beside the items. */
export interface SortableState {
  elements: ReadonlyMap<string, HTMLElement>
  drags: ReadonlyMap<string, ItemDrag>
  draggedId: string | null
  /** A press before dnd-kit was loaded; replayed if the button is still down once it is. */
  earlyPress: { id: string; event: PointerEvent } | null
}

interface SortableDraggingProps {
  store: StoreApi<SortableState>
  ids: string[]
  layout: 'list' | 'grid'
  disabled: boolean
  /** The item was dropped in the position of `over`. */
  onDrop: (id: string, over: string) => void
}

/**
 * Drag and drop for the items of a `SortableList`. Rendered beside the items, not around them, so that loading it late
 * remounts nothing: items register their elements and read their styles from the store.
 */
export function SortableDragging({ store, ids, layout, disabled, onDrop }: SortableDraggingProps): ReactNode {
  // Moves below this distance count as a click.
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 6 } }))
  const elements = useStore(store, (state) => state.elements)
  const from = useRef({ x: 0, y: 0 })
  const end = () => store.setState({ draggedId: null })
  function drop(id: string, over: string | null): void {
    end()
    if (over !== null && over !== id) onDrop(id, over)
  }

  // dnd-kit reports no end if the button is released before its start has rendered, as on a busy machine.
  const onRelease = useEffectEvent(({ clientX, clientY }: globalThis.PointerEvent) => {
    const { draggedId } = store.getState()
    const moved = { x: clientX - from.current.x, y: clientY - from.current.y }
    if (draggedId !== null) drop(draggedId, closestTo(draggedId, moved, elements))
  })
  useEffect(() => {
    // Bubbling, so that they come after dnd-kit's own on the document.
    const release = (event: globalThis.PointerEvent) => onRelease(event)
    const cancel = () => store.setState({ draggedId: null })
    window.addEventListener('pointerup', release)
    window.addEventListener('pointercancel', cancel)
    return () => {
      window.removeEventListener('pointerup', release)
      window.removeEventListener('pointercancel', cancel)
    }
  }, [store])

  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragStart={({ active, activatorEvent }) => {
        from.current = getEventCoordinates(activatorEvent) ?? from.current
        store.setState({ draggedId: String(active.id) })
      }}
      onDragCancel={end}
      onDragEnd={({ active, over }) => drop(String(active.id), over && String(over.id))}
    >
      <SortableContext
        items={ids}
        disabled={disabled}
        strategy={layout === 'grid' ? rectSortingStrategy : verticalListSortingStrategy}
      >
        {[...elements].map(([id, element]) => (
          <ItemDragging key={id} id={id} element={element} store={store} />
        ))}
      </SortableContext>
    </DndContext>
  )
}

/** The item whose centre is closest to that of the dragged one, as moved. */
function closestTo(
  dragged: string,
  moved: { x: number; y: number },
  elements: ReadonlyMap<string, HTMLElement>,
): string | null {
  const centers = [...elements].map(([id, element]) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    return { id, x: left + width / 2, y: top + height / 2 }
  })
  const start = centers.find(({ id }) => id === dragged)
  if (!start) return null
  const distance = ({ x, y }: { x: number; y: number }) =>
    Math.hypot(x - start.x - moved.x, y - start.y - moved.y)
  return centers.reduce((a, b) => (distance(b) < distance(a) ? b : a)).id
}

interface ItemDraggingProps {
  id: string
  element: HTMLElement
  store: StoreApi<SortableState>
}

function ItemDragging({ id, element, store }: ItemDraggingProps): ReactNode {
  const { setNodeRef, listeners, transform, transition, isDragging } = useSortable({
    id,
    transition: { duration: 120, easing: 'ease' },
  })
  useLayoutEffect(() => {
    setNodeRef(element)
    return () => setNodeRef(null)
  }, [setNodeRef, element])
  const movedBy = CSS.Translate.toString(transform)
  useLayoutEffect(() => {
    const style: CSSProperties = { transform: movedBy, transition }
    if (isDragging) Object.assign(style, { position: 'relative', zIndex: 2, opacity: 0.85 })
    const drags = new Map(store.getState().drags)
    store.setState({ drags: drags.set(id, { style, listeners: listeners ?? {}, isDragging }) })
  }, [store, id, movedBy, transition, isDragging, listeners])
  useLayoutEffect(
    () => () => {
      const drags = new Map(store.getState().drags)
      drags.delete(id)
      store.setState({ drags })
    },
    [store, id],
  )
  useEffect(() => {
    const { earlyPress } = store.getState()
    if (earlyPress?.id !== id) return
    store.setState({ earlyPress: null })
    listeners?.onPointerDown?.(earlyPress.event)
  }, [store, id, listeners])
  return null
}
