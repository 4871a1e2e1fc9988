import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import { direction } from '../../i18n.ts'
import styles from './floating-note.module.css'

interface FloatingNoteProps {
  /** The element that the note belongs to. */
  anchor: RefObject<HTMLElement | null>
  id?: string
  className?: string
  children: ReactNode
}

/** A validation message in the browser's top layer, above or below its cell, without covering the editor's list. */
export function FloatingNote({ anchor, id, className, children }: FloatingNoteProps): ReactNode {
  const note = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = note.current
    if (!element) return
    // The top layer is not clipped by the grid's scroll container.
    element.showPopover?.()
    const update = () => position(element, anchor.current)
    update()
    const observer = new ResizeObserver(update)
    observer.observe(element)
    window.addEventListener('resize', update)
    document.addEventListener('scroll', update, true)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', update)
      document.removeEventListener('scroll', update, true)
    }
  }, [anchor])
  return (
    <div
      ref={note}
      id={id}
      popover="manual"
      role="alert"
      data-part="none"
      data-testid="cell-note"
      className={`${styles.note} ${className ?? ''}`}
    >
      {children}
    </div>
  )
}

/** Distance to the edges of the window, and to the cell. */
const MARGIN = 8
const GAP = 4

function position(note: HTMLElement, anchor: HTMLElement | null): void {
  const cell = anchor?.getBoundingClientRect()
  const grid = anchor?.closest('[data-grid]')?.getBoundingClientRect()
  if (!cell || !grid) return
  const isInSight =
    cell.bottom > grid.top && cell.top < grid.bottom && cell.right > grid.left && cell.left < grid.right
  note.style.visibility = isInSight ? 'visible' : 'hidden'
  const list = document.querySelector('[data-cell-popover]')?.getBoundingClientRect()
  const left = Math.min(cell.left, list?.left ?? cell.left)
  const top = Math.min(cell.top, list?.top ?? cell.top)
  const box = {
    left,
    top,
    width: Math.max(cell.right, list?.right ?? cell.right) - left,
    height: Math.max(cell.bottom, list?.bottom ?? cell.bottom) - top,
  }
  const size = { width: note.offsetWidth, height: note.offsetHeight }
  const page = { width: document.documentElement.clientWidth, height: window.innerHeight }
  const at = positionNote(box, size, page, direction())
  note.style.left = `${at.left}px`
  note.style.top = `${at.top}px`
}

interface Size {
  width: number
  height: number
}

/** Position aligned with the start of a box, below or above it, whichever has more room. */
export function positionNote(
  box: Size & { left: number; top: number },
  note: Size,
  page: Size,
  direction: 'ltr' | 'rtl',
): { left: number; top: number } {
  const left = direction === 'ltr' ? box.left : box.left + box.width - note.width
  const bottom = box.top + box.height
  const roomBelow = page.height - bottom - GAP - MARGIN
  const roomAbove = box.top - GAP - MARGIN
  const isBelow = note.height <= roomBelow || roomBelow >= roomAbove
  return {
    left: clamp(left, MARGIN, page.width - note.width - MARGIN),
    top: clamp(
      isBelow ? bottom + GAP : box.top - GAP - note.height,
      MARGIN,
      page.height - note.height - MARGIN,
    ),
  }
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(value, max))
