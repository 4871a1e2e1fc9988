import { createContext, type PointerEvent, type ReactNode, useCallback, useContext, useState } from 'react'
import { useStore } from 'zustand'
import { createStore, type StoreApi } from 'zustand/vanilla'
import { lazyPart } from '../navigation/lazy-screen.ts'
import type { SortableState } from './sortable-dragging.tsx'

// dnd-kit is 14 KB: load it when the pointer first enters a sortable item.
const SortableDragging = lazyPart(() => import('./sortable-dragging.tsx'), 'SortableDragging')
const isNeeded = createStore(() => false)
const loadDragging = () => isNeeded.setState(true, true)

const createSortable = () =>
  createStore<SortableState>(() => ({
    elements: new Map(),
    drags: new Map(),
    draggedId: null,
    earlyPress: null,
  }))

const SortableStore = createContext<StoreApi<SortableState>>(createSortable())

interface SortableListProps {
  ids: string[]
  /** The item moved before `before`; null: to the end. */
  onMove: (id: string, before: string | null) => void
  layout?: 'list' | 'grid'
  disabled?: boolean
  children: ReactNode
}

/** A list sortable by drag and drop. For the keyboard, offer "Move up" in the items' menus. */
export function SortableList({
  ids,
  onMove,
  layout = 'list',
  disabled = false,
  children,
}: SortableListProps) {
  const [store] = useState(createSortable)
  const hasDragging = useStore(isNeeded)
  return (
    <SortableStore value={store}>
      {children}
      {hasDragging && (
        <SortableDragging
          store={store}
          ids={ids}
          layout={layout}
          disabled={disabled}
          onDrop={(id, over) => onMove(id, beforeAfterMove(ids, id, ids.indexOf(over)))}
        />
      )}
    </SortableStore>
  )
}

/** The id that follows an item moved to `index`; null at the end. */
export function beforeAfterMove(ids: string[], id: string, index: number): string | null {
  const others = ids.filter((one) => one !== id)
  return others[index] ?? null
}

/** Moves an item before `before` (null: to the end). */
export function moveBefore<T extends { id: string }>(items: T[], id: string, before: string | null): T[] {
  const moved = items.find((item) => item.id === id)
  if (!moved) return items
  const others = items.filter((item) => item.id !== id)
  const at = before === null ? others.length : others.findIndex((item) => item.id === before)
  return others.toSpliced(at === -1 ? others.length : at, 0, moved)
}

/** Props for an item of a `SortableList`; attach `listeners` to its handle or element. */
export function useSortableItem(id: string) {
  const store = useContext(SortableStore)
  const ref = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return
      setElement(store, id, element)
      element.addEventListener('pointerenter', loadDragging)
      return () => {
        setElement(store, id, null)
        element.removeEventListener('pointerenter', loadDragging)
      }
    },
    [store, id],
  )
  const drag = useStore(store, ({ drags }) => drags.get(id))
  return { ref, ...(drag ?? { style: {}, listeners: { onPointerDown: pressEarly }, isDragging: false }) }

  function pressEarly(event: PointerEvent) {
    // A nested list handles a press before the outer list receives the same event.
    if (event.isDefaultPrevented() || earlyEvents.has(event.nativeEvent)) return
    earlyEvents.add(event.nativeEvent)
    loadDragging()
    store.setState({ earlyPress: { id, event } })
    const forget = () => store.setState({ earlyPress: null })
    window.addEventListener('pointerup', forget, { once: true })
    window.addEventListener('pointercancel', forget, { once: true })
  }
}

const earlyEvents = new WeakSet<Event>()

/** Id of the item being dragged in the surrounding list; null without a drag. */
export const useDraggedId = (): string | null =>
  useStore(useContext(SortableStore), ({ draggedId }) => draggedId)

function setElement(store: StoreApi<SortableState>, id: string, element: HTMLElement | null): void {
  const elements = new Map(store.getState().elements)
  if (element) elements.set(id, element)
  else elements.delete(id)
  store.setState({ elements })
}
