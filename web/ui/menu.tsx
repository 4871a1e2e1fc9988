import { useEffect } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { showError } from './attempt.ts'
import { LayerBoundary } from './layer-boundary.tsx'
import type { MenuItem, OpenMenu } from './menu-list.tsx'
import { MenuList, preloadOverlaysOnFirstUse } from './overlays.ts'

export type { MenuItem } from './menu-list.tsx'

const openedMenu = createStore<(OpenMenu & { opening: number }) | null>(() => null)

let openings = 0

/** The items of a menu; a promise while the code of their actions is loading. */
type Items = MenuItem[] | Promise<MenuItem[]>

/** Opens a menu below an element or at a point. One is open at a time; the same anchor again closes it. */
export function openMenu(anchor: OpenMenu['anchor'], items: Items, label: string): void {
  const opening = ++openings
  if (openedMenu.getState()?.anchor === anchor) {
    openedMenu.setState(null, true)
    return
  }
  const open = (ready: MenuItem[]) => {
    // Another menu may have been asked for in the meantime.
    if (opening === openings)
      openedMenu.setState({ opening, items: withoutLooseSeparators(ready), anchor, label }, true)
  }
  if (items instanceof Promise) items.then(open, showError)
  else open(items)
}

/** Cancels the opening of a menu whose items are still awaited. */
export const cancelAwaitedMenu = (): void => void openings++

/** Opens a context menu for a right click, the menu key or Shift+F10. */
export function openContextMenu(
  event: {
    preventDefault(): void
    stopPropagation(): void
    clientX: number
    clientY: number
    target: EventTarget
  },
  items: Items,
  label: string,
): void {
  event.preventDefault()
  event.stopPropagation()
  // Some browsers report no position for the keyboard: open at the element.
  const element =
    event.clientX === 0 && event.clientY === 0 && event.target instanceof Element ? event.target : null
  openMenu(element ?? { x: event.clientX, y: event.clientY }, items, label)
}

/** Renders the open menu; mounted once, at the root of the app. */
export function MenuHost() {
  const menu = useStore(openedMenu)
  useEffect(preloadOverlaysOnFirstUse, [])
  if (!menu) return null
  const close = () => openedMenu.setState(null, true)
  return (
    <LayerBoundary key={menu.opening} onFailure={close}>
      <MenuList {...menu} onClose={close} />
    </LayerBoundary>
  )
}

function withoutLooseSeparators(items: MenuItem[]): MenuItem[] {
  return items.filter((item, index) => {
    if (item.kind !== 'separator') return true
    const next = items[index + 1]
    return index > 0 && next !== undefined && next.kind !== 'separator'
  })
}
