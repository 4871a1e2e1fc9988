import { useSyncExternalStore } from 'react'
import { localSettings, readJsonSetting } from '../../session/local-settings.ts'

export const MIN_SIDEBAR_WIDTH = 200
export const MAX_SIDEBAR_WIDTH = 480
const DEFAULT_WIDTH = 260

interface SidebarState {
  width: number
  collapsed: boolean
  /** The drawer of narrow windows. */
  drawerOpen: boolean
  /** Tables whose views are shown. */
  expanded: ReadonlySet<string>
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

let state: SidebarState = {
  width: clampWidth(Number(localSettings.get('sidebarWidth') ?? DEFAULT_WIDTH) || DEFAULT_WIDTH),
  collapsed: localSettings.get('sidebarCollapsed') === 'true',
  drawerOpen: false,
  expanded: new Set(readJsonSetting('expandedTables', [], isTexts)),
}
const listeners = new Set<() => void>()

function change(patch: Partial<SidebarState>): void {
  state = { ...state, ...patch }
  for (const listener of listeners) listener()
}

/** Width, fold and expanded tables of the sidebar; remembered in this browser. */
export const useSidebarState = (): SidebarState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )

/** Sets the width in pixels, within 200 and 480. */
export function setSidebarWidth(width: number): void {
  change({ width: clampWidth(width) })
  localSettings.set('sidebarWidth', String(state.width))
}

/** Hides the sidebar, or shows it. In a narrow window it is the drawer that opens or closes. */
export function toggleSidebarCollapsed(): void {
  if (isNarrow()) {
    setDrawerOpen(!state.drawerOpen)
    return
  }
  change({ collapsed: !state.collapsed })
  localSettings.set('sidebarCollapsed', String(state.collapsed))
}

/** Opens or closes the drawer of narrow windows. */
export const setDrawerOpen = (drawerOpen: boolean): void => change({ drawerOpen })

/** Shows or hides the views below a table. */
export function setExpanded(tableId: string, expanded: boolean): void {
  const next = new Set(state.expanded)
  if (expanded) next.add(tableId)
  else next.delete(tableId)
  change({ expanded: next })
  localSettings.set('expandedTables', JSON.stringify([...next].slice(-200)))
}

const NARROW = window.matchMedia('(max-width: 767px)')
const isNarrow = () => NARROW.matches

/** True in a window too narrow for a sidebar beside the content. */
export const useIsNarrow = (): boolean =>
  useSyncExternalStore((listener) => {
    NARROW.addEventListener('change', listener)
    return () => NARROW.removeEventListener('change', listener)
  }, isNarrow)

function clampWidth(width: number): number {
  return Math.round(Math.max(MIN_SIDEBAR_WIDTH, Math.min(width, MAX_SIDEBAR_WIDTH)))
}
