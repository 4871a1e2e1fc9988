import { useEffect, useState } from 'react'
import { LayerBoundary } from './layer-boundary.tsx'
import { Tip } from './overlays.ts'

const DELAY_MS = 450

/**
 * Shows the tooltip of any element with `data-tip="text"` (and `data-tip-keys="Ctrl+K"`) on hover and keyboard focus;
 * with `data-tip-clipped` only if its text is truncated. One listener for the page, mounted at the root.
 */
export function TooltipHost() {
  const [target, setTarget] = useState<HTMLElement | null>(null)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const hide = () => {
      clearTimeout(timer)
      setTarget(null)
    }
    const showLater = (event: Event, delayMs: number) => {
      const found = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-tip]') : null
      hide()
      if (found && hasSomethingToSay(found)) timer = setTimeout(() => setTarget(found), delayMs)
    }
    const onOver = (event: PointerEvent) => event.pointerType === 'mouse' && showLater(event, DELAY_MS)
    const onFocus = (event: FocusEvent) => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) showLater(event, 0)
    }
    document.addEventListener('pointerover', onOver)
    document.addEventListener('focusin', onFocus)
    // Any interaction hides the tooltip, so that it does not cover an opening menu.
    for (const type of HIDING) document.addEventListener(type, hide, true)
    return () => {
      hide()
      document.removeEventListener('pointerover', onOver)
      document.removeEventListener('focusin', onFocus)
      for (const type of HIDING) document.removeEventListener(type, hide, true)
    }
  }, [])

  if (!target?.isConnected) return null
  return (
    <LayerBoundary isQuiet onFailure={() => setTarget(null)}>
      <Tip target={target} />
    </LayerBoundary>
  )
}

const HIDING = ['pointerdown', 'keydown', 'scroll', 'focusout', 'wheel'] as const

function hasSomethingToSay(element: HTMLElement): boolean {
  // The tooltip would cover the button's open menu.
  if (element.getAttribute('aria-expanded') === 'true') return false
  return !('tipClipped' in element.dataset) || element.scrollWidth > element.clientWidth
}
