import { type RefObject, useLayoutEffect, useRef } from 'react'

interface Layer {
  onEscape: () => void
  element: RefObject<HTMLElement | null> | undefined
  staysOnNavigation: boolean
}

/** Open overlays, topmost last. Escape closes one per press. */
const open: Layer[] = []

interface LayerOptions {
  /** Element that gets the focus on closing; by default the one that had it before. */
  returnFocusTo?: () => HTMLElement | null
  /** The layer's outermost element, by which layers below recognize clicks in it. */
  element?: RefObject<HTMLElement | null>
  /** True if it stays open on navigation, because its state is part of the URL or it belongs to no page. */
  staysOnNavigation?: boolean
}

/**
 * Registers an open popover, menu, dialog or drawer: Escape calls `onEscape` of the topmost only, and closing returns
 * the focus. Returns a function for Ariakit's `hideOnInteractOutside`: true for a press outside this layer and those
 * above it, such as a menu opened from it. Focus changes close nothing: a grid or a closing dialog may take the focus
 * at any time.
 */
export function useLayer(
  onEscape: () => void,
  { returnFocusTo, element, staysOnNavigation = false }: LayerOptions = {},
) {
  // Read during render: an input inside may focus itself before any effect runs.
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
      // Restores the focus only if it was lost with the layer and has not moved elsewhere.
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
 * Focuses an element. If it cannot take the focus, like grid cells and removed hover buttons, the grid's
 * `data-shortcuts` element gets it.
 */
function giveFocus(target: Element | null): void {
  if (!(target instanceof HTMLElement) || !target.isConnected) return
  target.focus({ preventScroll: true })
  if (!isFocusLost()) return
  const stand = target.closest('[data-grid]')?.querySelector<HTMLElement>('[data-shortcuts]')
  stand?.focus({ preventScroll: true })
}

/** True while an overlay is open, which disables global shortcuts. */
export const hasOpenLayer = (): boolean => open.length > 0

/** Closes overlays when another page opens below: a dialog about one table must not act on the next. */
export function closeLayersOnNavigation(): void {
  for (const layer of open.toReversed()) if (!layer.staysOnNavigation) layer.onEscape()
}

document.addEventListener('keydown', (event) => {
  // Ignores Escape during a composition, and if a control inside has used it.
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
  const top = open.at(-1)
  if (!top) return
  event.preventDefault()
  event.stopPropagation()
  top.onEscape()
})
