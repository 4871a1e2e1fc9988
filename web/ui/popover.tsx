import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { direction } from '../i18n.ts'
import { useLayer } from './layers.ts'
import { type Box, type Placement, place } from './place.ts'
import styles from './popover.module.css'

export interface PopoverProps {
  /** What it belongs to: an element, or a point of the window for context menus. */
  anchor: Element | { x: number; y: number }
  onClose: () => void
  children: ReactNode
  placement?: Placement
  /** Name for screen readers; gives it `role="dialog"`. Menus and lists bring a role of their own. */
  label?: string
  className?: string
  /** Where the focus goes at first: the first control (default), or nowhere. */
  focus?: 'first' | 'none'
}

/**
 * A box over the page, beside its anchor. Closes by Escape and by pressing outside, gives the focus back,
 * and moves along when the page scrolls. Popups opened from it count as inside.
 */
export function Popover({
  anchor,
  onClose,
  children,
  placement = 'bottom-start',
  label,
  className,
  focus = 'first',
}: PopoverProps) {
  const box = useRef<HTMLDivElement>(null)
  const pressedInside = useRef(false)
  const [position, setPosition] = useState<{ left: number; top: number; maxHeight: number } | null>(null)
  const isAbove = useLayer(onClose, {
    element: box,
    returnFocusTo: () => (anchor instanceof HTMLElement ? anchor : null),
  })
  const onOutside = useRef<(target: Node) => void>(() => {})
  onOutside.current = (target) => {
    // A press on the anchor is left to the anchor, which closes what it opened.
    const onAnchor = anchor instanceof Element && anchor.contains(target)
    // A menu or dialog that was opened from here is part of what one does here.
    if (!onAnchor && !isAbove(target)) onClose()
  }

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const update = () => {
      const size = { width: element.offsetWidth, height: element.scrollHeight + 2 }
      const page = { width: document.documentElement.clientWidth, height: window.innerHeight }
      setPosition(place(boxOf(anchor), size, page, placement, direction()))
    }
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
  }, [anchor, placement])

  useLayoutEffect(() => {
    if (focus === 'first') box.current?.querySelector<HTMLElement>('[autofocus], [data-autofocus]')?.focus()
    if (focus === 'first' && !box.current?.contains(document.activeElement)) {
      box.current?.querySelector<HTMLElement>(FOCUSABLE)?.focus()
    }
  }, [focus])

  useEffect(() => {
    const onPress = (event: PointerEvent) => {
      const inside = pressedInside.current
      pressedInside.current = false
      if (!inside && event.target instanceof Node) onOutside.current(event.target)
    }
    document.addEventListener('pointerdown', onPress)
    return () => document.removeEventListener('pointerdown', onPress)
  }, [])

  return createPortal(
    // React passes events of nested portals through here, so a popup opened from inside counts as inside.
    <div
      ref={box}
      className={`${styles.popover} ${className ?? ''}`}
      style={position ?? UNMEASURED}
      onPointerDownCapture={() => {
        pressedInside.current = true
      }}
      {...(label ? { role: 'dialog', 'aria-label': label } : {})}
    >
      {children}
    </div>,
    document.body,
  )
}

/** Unseen, but not `visibility: hidden`, in which nothing takes the focus. */
const UNMEASURED = { left: 0, top: 0, opacity: 0 } as const

/** Everything that takes the focus by Tab. */
export const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex]:not([tabindex="-1"])'

function boxOf(anchor: PopoverProps['anchor']): Box {
  return anchor instanceof Element
    ? anchor.getBoundingClientRect()
    : { left: anchor.x, top: anchor.y, width: 0, height: 0 }
}
