import { useEffect, useState } from 'react'
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
    // Whatever is done next matters more than the tip: it must not cover the menu that opens.
    for (const type of HIDING) document.addEventListener(type, hide, true)
    return () => {
      hide()
      document.removeEventListener('pointerover', onOver)
      document.removeEventListener('focusin', onFocus)
      for (const type of HIDING) document.removeEventListener(type, hide, true)
    }
  }, [])

  return target?.isConnected ? <Tip target={target} /> : null
}

const HIDING = ['pointerdown', 'keydown', 'scroll', 'focusout', 'wheel'] as const

function hasSomethingToSay(element: HTMLElement): boolean {
  // An open menu belongs to its button; the tip would lie over it.
  if (element.getAttribute('aria-expanded') === 'true') return false
  return !('tipClipped' in element.dataset) || element.scrollWidth > element.clientWidth
}
