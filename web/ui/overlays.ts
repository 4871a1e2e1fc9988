import { lazyPart } from '../navigation/lazy-screen.ts'
import { lazyDialog } from './lazy-dialog.ts'

const load = () => import('./overlay-parts.ts')

export const Popover = lazyPart(load, 'Popover')

export const Dialog = lazyDialog(load, 'Dialog')

export const MenuList = lazyDialog(load, 'MenuList')

export const Tip = lazyPart(load, 'Tip')

const FIRST_USE = ['pointermove', 'pointerdown', 'keydown'] as const
/** Preloads after this time even without input. */
const IDLE_MS = 4_000

/**
 * Loads popovers, dialogs and menus at the first input, so that they are not part of the first load but open
 * without delay. Returns a function that cancels the preload.
 */
export function preloadOverlaysOnFirstUse(): () => void {
  const timer = setTimeout(preload, IDLE_MS)
  function stop() {
    clearTimeout(timer)
    for (const type of FIRST_USE) document.removeEventListener(type, preload, true)
  }
  function preload() {
    stop()
    // Opening an overlay retries, and reports a failure visibly.
    Promise.all([Popover.preload(), Dialog.preload(), MenuList.preload(), Tip.preload()]).catch((error) =>
      console.warn('overlays not fetched ahead of time', error),
    )
  }
  for (const type of FIRST_USE) document.addEventListener(type, preload, { capture: true, passive: true })
  return stop
}
