import { closestCenter, DndContext, PointerSensor, useSensor, useSensors } from '@dnd-kit/core'
import {
  rectSortingStrategy,
  SortableContext,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { CSS } from '@dnd-kit/utilities'
import { type CSSProperties, type PointerEvent, type ReactNode, useEffect, useLayoutEffect } from 'react'
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
  const end = () => store.setState({ draggedId: null })
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragStart={({ active }) => store.setState({ draggedId: String(active.id) })}
      onDragCancel={end}
      onDragEnd={({ active, over }) => {
        end()
        if (over && active.id !== over.id) onDrop(String(active.id), String(over.id))
      }}
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
