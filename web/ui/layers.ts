import { type RefObject, useLayoutEffect, useRef } from 'react'

interface Layer {
  onEscape: () => void
  element: RefObject<HTMLElement | null> | undefined
  staysOnNavigation: boolean
}

/** Open overlays, topmost last. Escape closes one per press. */
const open: Layer[] = []

interface LayerOptions {
  /** Takes the focus at the end; by default what had it at the beginning. */
  returnFocusTo?: () => HTMLElement | null
  /** The layer's outermost element, so that layers below know a press in it from one on the page. */
  element?: RefObject<HTMLElement | null>
  /** Stays open when another page opens below it: its own state is part of the address, or it belongs to no page. */
  staysOnNavigation?: boolean
}

/**
 * Registers a popover, menu, dialog or drawer while it is shown: Escape calls `onEscape` of the topmost
 * alone, and when it closes the focus goes back to where it was. Gives a function for Ariakit's
 * `hideOnInteractOutside`: true for a press outside this layer and outside those above, such as a menu that was
 * opened from it. A focus that moves closes nothing: a grid or a closing dialog below may take it at any time.
 */
export function useLayer(
  onEscape: () => void,
  { returnFocusTo, element, staysOnNavigation = false }: LayerOptions = {},
) {
  // While drawing: an input inside that focuses itself does so before any effect runs.
  const before = useRef(document.activeElement)
  const latest = useRef({ onEscape, returnFocusTo })
  latest.current = { onEscape, returnFocusTo }
  const layer = useRef<Layer>({
    onEscape: () => latest.current.onEscape(),
    element,
    staysOnNavigation,
  })

  useLayoutEffect(() => {
    const own = layer.current
    open.push(own)
    return () => {
      open.splice(open.indexOf(own), 1)
      const target = latest.current.returnFocusTo?.() ?? before.current
      // Only take the focus back where it was lost with the layer, not where it has moved on.
      queueMicrotask(() => {
        if (isFocusLost()) giveFocus(target)
        if (isFocusLost()) giveFocus(before.current)
      })
    }
  }, [])

  return ({ type, target }: Event): boolean =>
    type !== 'focusin' &&
    !(
      target instanceof Node &&
      open.slice(open.indexOf(layer.current) + 1).some((above) => above.element?.current?.contains(target))
    )
}

const isFocusLost = (): boolean => document.activeElement === document.body || document.activeElement === null

/**
 * Cells and headers of a grid take no focus themselves, and a button that shows on hover may be gone: the
 * focus then goes to what takes the keys in their place, marked by `data-shortcuts` within `data-grid`.
 */
function giveFocus(target: Element | null): void {
  if (!(target instanceof HTMLElement) || !target.isConnected) return
  target.focus({ preventScroll: true })
  if (!isFocusLost()) return
  const stand = target.closest('[data-grid]')?.querySelector<HTMLElement>('[data-shortcuts]')
  stand?.focus({ preventScroll: true })
}

/** True while anything lies over the page: global shortcuts wait. */
export const hasOpenLayer = (): boolean => open.length > 0

/**
 * Dismisses what lies over the page, as Escape would, when another page opens below: a dialog about the table
 * that was left must not act on the one that is shown now.
 */
export function closeLayersOnNavigation(): void {
  for (const layer of open.toReversed()) if (!layer.staysOnNavigation) layer.onEscape()
}

document.addEventListener('keydown', (event) => {
  // While an input method composes, Escape belongs to it; and a control inside may have used it already.
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
  const top = open.at(-1)
  if (!top) return
  event.preventDefault()
  event.stopPropagation()
  top.onEscape()
})
