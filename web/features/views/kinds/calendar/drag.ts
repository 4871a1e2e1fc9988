import { type SyntheticEvent, useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { createStore, type StoreApi } from 'zustand/vanilla'
import { lazyPart } from '../../../../navigation/lazy-screen.ts'
import { useMedia } from '../../../../ui/use-media.ts'
import type { DragState } from './calendar-dragging.tsx'
import type { DragSubject } from './moves.ts'

/**
 * dnd-kit is 14 KB: load it when the mouse first enters the calendar or the record list. On a touch screen the first
 * touch would be too late: its drag would start only once dnd-kit has loaded.
 */
export const CalendarDragging = lazyPart(() => import('./calendar-dragging.tsx'), 'CalendarDragging')

/**
 * Drag state of a calendar and the functions that start a drag.
 *
 * @param isLoaded true once the calendar shows its records
 */
export function useCalendarDrag(isLoaded: boolean) {
  const [store] = useState(() => createStore<DragState>(() => ({ isNeeded: false, press: null, drag: null })))
  const hasTouch = useMedia('(any-pointer: coarse)')
  useEffect(() => {
    if (isLoaded && hasTouch) store.setState({ isNeeded: true })
  }, [isLoaded, hasTouch, store])
  // A press that ended before dnd-kit had loaded must not start a drag.
  useEffect(() => {
    const release = () => store.setState({ press: null })
    window.addEventListener('pointerup', release)
    window.addEventListener('pointercancel', release)
    return () => {
      window.removeEventListener('pointerup', release)
      window.removeEventListener('pointercancel', release)
    }
  }, [store])
  return {
    store: store as StoreApi<DragState>,
    drag: useStore(store, (state) => state.drag),
    isNeeded: useStore(store, (state) => state.isNeeded),
    preload: () => store.setState({ isNeeded: true }),
    /** Handles `mousedown` and `touchstart` on a draggable element. */
    press: (event: SyntheticEvent, subject: DragSubject | null) => {
      const isSecondary = event.nativeEvent instanceof MouseEvent && event.nativeEvent.button !== 0
      if (subject && !isSecondary) store.setState({ isNeeded: true, press: { subject, event } })
    },
  }
}
