import { type DragStartEvent, MouseSensor, TouchSensor, useSensor, useSensors } from '@dnd-kit/core'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CheckedRows } from '../../../../grid/contract.ts'
import { direction } from '../../../../i18n.ts'
import type { GetContext } from '../../../records/context/table-context.ts'
import { inViewOrder, isChecked } from '../../cards/chosen.ts'
import { dropBar, dropIndex } from './gallery-layout.ts'
import type { GalleryScroll } from './use-gallery-scroll.ts'

/** A running drag with the dragged record and the index before which it would be dropped. */
export interface GalleryDrag {
  index: number
  ids: RecordId[]
  over: { index: number; start: number; top: number } | null
}

/** Moves records by dragging their cards; dragging a selected card moves all selected ones. */
export function useGalleryDrag(
  getContext: GetContext,
  scroll: GalleryScroll,
  records: number,
  checked: CheckedRows,
) {
  const [drag, setDrag] = useState<GalleryDrag | null>(null)
  // A press becomes a drag after some distance; a touch scrolls unless it rests first.
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 300, tolerance: 8 } }),
  )
  const { source } = getContext().store
  /** The drag as of the last event, which may not have rendered yet. */
  const current = useRef<GalleryDrag | null>(null)
  const pointer = useRef({ x: 0, y: 0 })
  const start = useRef(pointer.current)

  const onRelease = useEffectEvent(drop)
  const onCancel = useEffectEvent(() => show(null))
  useEffect(() => {
    const follow = (event: Event) => {
      if (current.current) pointer.current = pointOf(event) ?? pointer.current
    }
    const release = () => onRelease()
    const cancel = () => onCancel()
    // Runs before dnd-kit's listeners, which read the pointer position.
    document.addEventListener('mousemove', follow, true)
    document.addEventListener('touchmove', follow, true)
    document.addEventListener('mouseup', follow, true)
    // Run after them: dnd-kit reports no end if the button is released before its start has rendered.
    window.addEventListener('mouseup', release)
    window.addEventListener('touchend', release)
    window.addEventListener('touchcancel', cancel)
    return () => {
      document.removeEventListener('mousemove', follow, true)
      document.removeEventListener('touchmove', follow, true)
      document.removeEventListener('mouseup', follow, true)
      window.removeEventListener('mouseup', release)
      window.removeEventListener('touchend', release)
      window.removeEventListener('touchcancel', cancel)
    }
  }, [])

  function show(next: GalleryDrag | null): void {
    current.current = next
    setDrag(next)
  }

  /** Moves records before the one at an index, or to the end. */
  function move(ids: readonly RecordId[], before: number): void {
    const { store, schema, state } = getContext()
    let target = before
    while (target < records && ids.includes(source.getRow(target)?.id ?? '')) target++
    const next = target < records ? source.getRow(target)?.id : null
    // Without a known neighbour, the position is unknown.
    if (next === undefined) return
    const viewId = state.view.id
    void store.apply([{ kind: 'move', tableId: schema.table.id, ids: [...ids], before: next, viewId }])
  }

  function onDragStart({ active, activatorEvent }: DragStartEvent) {
    pointer.current = pointOf(activatorEvent) ?? pointer.current
    start.current = pointer.current
    const index = Number(active.id)
    const id = source.getRow(index)?.id
    if (id === undefined) return
    const chosen = checked.kind === 'some' && isChecked(checked, id) ? inViewOrder(source, checked.ids) : [id]
    show({ index, ids: chosen, over: null })
  }

  /** Also called while the list scrolls below a resting pointer. */
  function onDragMove() {
    const over = overPointer()
    if (current.current && over) show({ ...current.current, over })
  }

  function overPointer(): GalleryDrag['over'] {
    const element = scroll.box.current
    if (!element) return null
    const box = element.getBoundingClientRect()
    const { x: left, y: down } = pointer.current
    const x = direction() === 'rtl' ? box.left + element.clientWidth - left : left - box.left
    const y = down - box.top + element.scrollTop + scroll.origin
    const index = dropIndex(scroll.layout, x, y, records)
    return { index, ...dropBar(scroll.layout, x, index) }
  }

  /** Drops at the point of the release, because the last move may not have rendered yet. */
  function drop(): void {
    const dropped = current.current
    show(null)
    const over = pointer.current === start.current ? null : overPointer()
    if (dropped && over) move(dropped.ids, over.index)
  }

  return {
    drag,
    move,
    context: { sensors, onDragStart, onDragMove, onDragEnd: drop, onDragCancel: () => show(null) },
  }
}

function pointOf(event: Event): { x: number; y: number } | null {
  const at = 'touches' in event ? (event as TouchEvent).touches[0] : event
  return at instanceof MouseEvent || (typeof Touch !== 'undefined' && at instanceof Touch)
    ? { x: at.clientX, y: at.clientY }
    : null
}
