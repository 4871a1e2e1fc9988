import type { Engine } from '../engine.ts'
import type { Mode, Pointer } from './mode.ts'

/** What a dragging mode does; positions come from `engine.viewport`. */
export interface Drag {
  name: Mode['name']
  /** Which way the grid scrolls while the pointer is near or beyond its edge. */
  scrolls: 'both' | 'rows' | 'columns' | 'none'
  /** The pointer moved, or the grid under it, or Ctrl was pressed or let go. */
  move(pointer: Pointer): void
  drop(pointer: Pointer): void
  /** Takes the preview away, after a drop and after Escape alike. */
  end?(): void
}

/** Distance from the edge at which scrolling begins, and pixels per frame for each pixel beyond it. */
const EDGE_PX = 28
const SPEED = 0.35
const MAX_SPEED_PX = 60

/** Pixels that a press may wander before it is a drag. */
export const DRAG_THRESHOLD_PX = 4

/**
 * A mode that lasts while a button is down. It listens on the window, not by pointer capture, which
 * would take the click from the star or link that was pressed. Escape leaves without change.
 */
export function dragMode(drag: Drag): Mode {
  let stop = () => {}
  return {
    name: drag.name,
    enter(engine) {
      stop = listen(engine, drag)
    },
    leave() {
      stop()
      drag.end?.()
    },
    onKeyDown(event, engine) {
      if (event.key === 'Escape') engine.toIdle()
      return event.key === 'Escape'
    },
  }
}

function listen(engine: Engine, drag: Drag): () => void {
  let last: Pointer | null = null
  let frame = 0
  const move = (event: PointerEvent) => {
    // The button was let go where we could not see it.
    if (event.buttons === 0) return engine.toIdle()
    last = event
    drag.move(event)
    if (frame === 0) frame = requestAnimationFrame(scroll)
  }
  const scroll = () => {
    frame = 0
    if (!last || !scrollAtEdge(engine, drag.scrolls, last)) return
    drag.move(last)
    frame = requestAnimationFrame(scroll)
  }
  const up = (event: PointerEvent) => {
    drag.drop(event)
    engine.toIdle()
  }
  const cancel = () => engine.toIdle()
  const keys = ({ ctrlKey, metaKey, shiftKey }: KeyboardEvent) => {
    if (last) drag.move({ clientX: last.clientX, clientY: last.clientY, ctrlKey, metaKey, shiftKey })
  }
  window.addEventListener('pointermove', move)
  window.addEventListener('pointerup', up)
  window.addEventListener('pointercancel', cancel)
  window.addEventListener('keydown', keys)
  window.addEventListener('keyup', keys)
  return () => {
    cancelAnimationFrame(frame)
    window.removeEventListener('pointermove', move)
    window.removeEventListener('pointerup', up)
    window.removeEventListener('pointercancel', cancel)
    window.removeEventListener('keydown', keys)
    window.removeEventListener('keyup', keys)
  }
}

/** Scrolls by how far the pointer is beyond the edge; false where there was nothing to scroll. */
function scrollAtEdge(engine: Engine, scrolls: Drag['scrolls'], pointer: Pointer): boolean {
  const { viewport } = engine
  const { x, y } = viewport.pointIn(pointer.clientX, pointer.clientY)
  const frozen = engine.layout.frozenWidth
  const across = scrolls === 'rows' || scrolls === 'none' ? 0 : beyond(x, frozen, viewport.width.get())
  const down = scrolls === 'columns' || scrolls === 'none' ? 0 : beyond(y, 0, viewport.bodyHeight)
  if (across === 0 && down === 0) return false
  // Towards the start, frozen columns are a place to drag to, so only their outer edge scrolls.
  const inline = across < 0 && x > EDGE_PX ? 0 : across
  const before = { top: viewport.top, inline: viewport.inline }
  viewport.scrollTo({ top: before.top + down, inline: before.inline + inline })
  return viewport.top !== before.top || viewport.inline !== before.inline
}

function beyond(at: number, start: number, end: number): number {
  if (at < start + EDGE_PX) return Math.max(-MAX_SPEED_PX, Math.floor((at - start - EDGE_PX) * SPEED))
  return at > end - EDGE_PX ? Math.min(MAX_SPEED_PX, Math.ceil((at - end + EDGE_PX) * SPEED)) : 0
}

/** True once the pointer is further from where it was pressed than a hand trembles. */
export const hasLeft = (from: Pointer, to: Pointer): boolean =>
  Math.abs(from.clientX - to.clientX) > DRAG_THRESHOLD_PX ||
  Math.abs(from.clientY - to.clientY) > DRAG_THRESHOLD_PX
