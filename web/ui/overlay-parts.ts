/** All components that use Ariakit, which overlays.ts loads as one chunk. */
export { Dialog } from './dialog.tsx'
export { MenuList } from './menu-list.tsx'
export { Popover } from './popover.tsx'
export { Tip } from './tip.tsx'
