import { lazyPart } from '../navigation/lazy-screen.ts'

const load = () => import('./overlay-parts.ts')

/** A box beside its anchor; see popover.tsx. */
export const Popover = lazyPart(load, 'Popover')

/** A modal window; see dialog.tsx. */
export const Dialog = lazyPart(load, 'Dialog')

/** The items of an open menu; see menu-list.tsx. */
export const MenuList = lazyPart(load, 'MenuList')

/** The text of a tooltip; see tip.tsx. */
export const Tip = lazyPart(load, 'Tip')

const FIRST_USE = ['pointermove', 'pointerdown', 'keydown'] as const
/** Long after the first screen, for people who only read. */
const IDLE_MS = 4_000

/**
 * Loads popovers, dialogs and menus at the first input, so that they are not part of the first load and yet open
 * without delay. Returns a function that stops waiting.
 */
export function preloadOverlaysOnFirstUse(): () => void {
  const timer = setTimeout(preload, IDLE_MS)
  function stop() {
    clearTimeout(timer)
    for (const type of FIRST_USE) document.removeEventListener(type, preload, true)
  }
  function preload() {
    stop()
    // Opening one of them tries again, and reports a failure where it can be seen.
    Promise.all([Popover.preload(), Dialog.preload(), MenuList.preload(), Tip.preload()]).catch((error) =>
      console.warn('overlays not fetched ahead of time', error),
    )
  }
  for (const type of FIRST_USE) document.addEventListener(type, preload, { capture: true, passive: true })
  return stop
}
