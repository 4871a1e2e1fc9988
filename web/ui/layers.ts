import { useEffect, useRef } from 'react'

/** What lies over the page, the topmost last. Escape closes one per press. */
const open: { onEscape: () => void }[] = []

/**
 * Registers a popover, menu, dialog or drawer while it is shown: Escape calls `onEscape` of the topmost
 * alone, and when it closes the focus goes back to where it was.
 */
export function useLayer(onEscape: () => void, returnFocusTo?: () => HTMLElement | null): void {
  const latest = useRef({ onEscape, returnFocusTo })
  latest.current = { onEscape, returnFocusTo }

  useEffect(() => {
    const layer = { onEscape: () => latest.current.onEscape() }
    const before = document.activeElement
    open.push(layer)
    return () => {
      open.splice(open.indexOf(layer), 1)
      const target = latest.current.returnFocusTo?.() ?? before
      // Only take the focus back where it was lost with the layer, not where it has moved on.
      queueMicrotask(() => {
        const isLost = document.activeElement === document.body || document.activeElement === null
        if (isLost && target instanceof HTMLElement && target.isConnected)
          target.focus({ preventScroll: true })
      })
    }
  }, [])
}

/** True while anything lies over the page: global shortcuts wait. */
export const hasOpenLayer = (): boolean => open.length > 0

document.addEventListener('keydown', (event) => {
  // While an input method composes, Escape belongs to it; and a control inside may have used it already.
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
  const top = open.at(-1)
  if (!top) return
  event.preventDefault()
  event.stopPropagation()
  top.onEscape()
})
