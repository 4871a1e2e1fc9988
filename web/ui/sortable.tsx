import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  rectSortingStrategy,
  SortableContext,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { CSS } from '@dnd-kit/utilities'
import type { CSSProperties, ReactNode } from 'react'

interface SortableListProps {
  ids: string[]
  /** The item now stands ahead of `before`; null: at the end. */
  onMove: (id: string, before: string | null) => void
  layout?: 'list' | 'grid'
  disabled?: boolean
  children: ReactNode
}

/** Items that are dragged into order with the pointer. Offer "Move up" in their menu for the keyboard. */
export function SortableList({
  ids,
  onMove,
  layout = 'list',
  disabled = false,
  children,
}: SortableListProps) {
  // A press is a click until the pointer has gone some way.
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 6 } }))

  function onDragEnd({ active, over }: DragEndEvent) {
    if (!over || active.id === over.id) return
    onMove(String(active.id), beforeAfterMove(ids, String(active.id), ids.indexOf(String(over.id))))
  }

  return (
    <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={onDragEnd}>
      <SortableContext
        items={ids}
        disabled={disabled}
        strategy={layout === 'grid' ? rectSortingStrategy : verticalListSortingStrategy}
      >
        {children}
      </SortableContext>
    </DndContext>
  )
}

/** The id that an item stands ahead of once it is at `index`; null: it is the last. */
export function beforeAfterMove(ids: string[], id: string, index: number): string | null {
  const others = ids.filter((one) => one !== id)
  return others[index] ?? null
}

/** The list with one item moved ahead of `before` (null: to the end). */
export function moveBefore<T extends { id: string }>(items: T[], id: string, before: string | null): T[] {
  const moved = items.find((item) => item.id === id)
  if (!moved) return items
  const others = items.filter((item) => item.id !== id)
  const at = before === null ? others.length : others.findIndex((item) => item.id === before)
  return others.toSpliced(at === -1 ? others.length : at, 0, moved)
}

/** What an item of a SortableList puts on its element. */
export function useSortableItem(id: string) {
  const { setNodeRef, listeners, transform, transition, isDragging } = useSortable({
    id,
    transition: { duration: 120, easing: 'ease' },
  })
  const style: CSSProperties = {
    transform: CSS.Translate.toString(transform),
    transition,
    ...(isDragging ? { position: 'relative', zIndex: 2, opacity: 0.85 } : {}),
  }
  return { ref: setNodeRef, style, listeners, isDragging }
}
