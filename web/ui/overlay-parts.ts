/** All that is drawn with Ariakit, fetched as one part of the app by overlays.ts. */
export { Dialog } from './dialog.tsx'
export { MenuList } from './menu-list.tsx'
export { Popover } from './popover.tsx'
export { Tip } from './tip.tsx'
