import { Popover as AriakitPopover, type PopoverStore, usePopoverStore } from '@ariakit/react'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { direction } from '../i18n.ts'
import { LayerBoundary } from './layer-boundary.tsx'
import { useLayer } from './layers.ts'
import styles from './popover.module.css'
import { useMedia } from './use-media.ts'

interface PopoverProps {
  /** An element, or a point in the window for context menus. */
  anchor: Element | { x: number; y: number }
  onClose: () => void
  children: ReactNode
  /** Below the anchor, aligned with its start or end, or beside it. Flips to the side with more room. */
  placement?: 'bottom-start' | 'bottom-end' | 'side'
  /** Accessible name; implies `role="dialog"`. Lists set their own role. */
  label?: string
  className?: string
  /** Initial focus: the first control (default), or unchanged. */
  focus?: 'first' | 'none'
  /** Shown as a bottom sheet on phones. */
  isSheetOnPhones?: boolean
}

/** Distance to the anchor and to the edges of the window. */
export const POPOVER_GAP_PX = 4
const EDGE_PX = 8

/**
 * A box beside its anchor, which it follows. Closes on Escape and clicks outside, and returns the focus.
 * Popups opened from it count as inside.
 */
export function Popover({
  anchor,
  onClose,
  children,
  placement = 'bottom-start',
  label,
  className = '',
  focus = 'first',
  isSheetOnPhones = false,
}: PopoverProps) {
  const box = useRef<HTMLDivElement>(null)
  const isSheet = useMedia('(max-width: 767px)') && isSheetOnPhones
  const isPressOutside = useLayer(onClose, {
    element: box,
    returnFocusTo: () => (anchor instanceof HTMLElement ? anchor : null),
  })
  const store = usePopoverStore({
    open: true,
    setOpen: (isOpen) => !isOpen && onClose(),
    placement: placement === 'side' ? SIDE[direction()] : placement,
  })
  const anchorRect = useAnchor(store, anchor)

  return createPortal(
    <AriakitPopover
      store={store}
      ref={box}
      role={label ? 'dialog' : undefined}
      aria-label={label}
      tabIndex={undefined}
      className={`${styles.popover} ${className}`}
      data-sheet={isSheet || undefined}
      fixed
      gutter={POPOVER_GAP_PX}
      shift={placement === 'side' ? -POPOVER_GAP_PX : 0}
      overflowPadding={EDGE_PX}
      overlap={placement === 'side'}
      fitViewport
      getAnchorRect={anchorRect}
      updatePosition={isSheet ? () => {} : undefined}
      wrapperProps={isSheet ? { style: SHEET } : undefined}
      // `useLayer` handles Escape and the focus for all kinds of layers.
      hideOnEscape={false}
      autoFocusOnHide={false}
      hideOnInteractOutside={isPressOutside}
      autoFocusOnShow={() => focus === 'first' && !box.current?.contains(document.activeElement)}
    >
      <LayerBoundary onFailure={onClose}>{children}</LayerBoundary>
    </AriakitPopover>,
    document.body,
  )
}

const SIDE = { ltr: 'right-start', rtl: 'left-start' } as const
const SHEET = { top: 'auto', bottom: 0, width: '100%' } as const

/**
 * Sets the anchor of a popover or menu and returns its position in the window. A hover button disappears once
 * the pointer is in the menu; its last position is then used.
 */
export function useAnchor(
  store: Pick<PopoverStore, 'setAnchorElement' | 'setDisclosureElement'>,
  anchor: PopoverProps['anchor'],
): () => AnchorRect {
  useLayoutEffect(() => {
    const element = anchor instanceof HTMLElement ? anchor : null
    store.setAnchorElement(element)
    // Clicks on the anchor are left to the anchor, which closes its popover.
    store.setDisclosureElement(element)
  }, [store, anchor])
  const last = useRef<AnchorRect>({ x: 0, y: 0, width: 0, height: 0 })
  return () => {
    if (!(anchor instanceof Element)) return { ...anchor, width: 0, height: 0 }
    if (anchor.getClientRects().length > 0) last.current = anchor.getBoundingClientRect()
    return last.current
  }
}

type AnchorRect = Pick<DOMRect, 'x' | 'y' | 'width' | 'height'>
