import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { localSettings, readJsonSetting } from '../../session/local-settings.ts'
import { useMedia } from '../../ui/use-media.ts'

export const MIN_SIDEBAR_WIDTH = 200
export const MAX_SIDEBAR_WIDTH = 480
const DEFAULT_WIDTH = 260

interface SidebarState {
  width: number
  collapsed: boolean
  /** The sidebar as a drawer, in narrow windows. */
  drawerOpen: boolean
  /** Tables whose views are listed. */
  expanded: ReadonlySet<string>
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const sidebar = createStore<SidebarState>(() => ({
  width: clampWidth(Number(localSettings.get('sidebarWidth') ?? DEFAULT_WIDTH) || DEFAULT_WIDTH),
  collapsed: localSettings.get('sidebarCollapsed') === 'true',
  drawerOpen: false,
  expanded: new Set(readJsonSetting('expandedTables', [], isTexts)),
}))

/** Width, collapsed state and expanded tables of the sidebar, kept in this browser. */
export const useSidebarState = (): SidebarState => useStore(sidebar)

/** Sets the width in pixels, clamped to the allowed range. */
export function setSidebarWidth(width: number): void {
  sidebar.setState({ width: clampWidth(width) })
  localSettings.set('sidebarWidth', String(sidebar.getState().width))
}

/** Toggles the sidebar; in narrow windows, the drawer. */
export function toggleSidebarCollapsed(): void {
  if (isNarrow()) {
    setDrawerOpen(!sidebar.getState().drawerOpen)
    return
  }
  sidebar.setState({ collapsed: !sidebar.getState().collapsed })
  localSettings.set('sidebarCollapsed', String(sidebar.getState().collapsed))
}

/** Opens or closes the drawer of narrow windows. */
export const setDrawerOpen = (drawerOpen: boolean): void => sidebar.setState({ drawerOpen })

/** Shows or hides the views below a table. */
export function setExpanded(tableId: string, expanded: boolean): void {
  const next = new Set(sidebar.getState().expanded)
  if (expanded) next.add(tableId)
  else next.delete(tableId)
  sidebar.setState({ expanded: next })
  localSettings.set('expandedTables', JSON.stringify([...next].slice(-200)))
}

const NARROW = window.matchMedia('(max-width: 767px)')
const isNarrow = () => NARROW.matches

/** True if the window is too narrow for a sidebar. */
export const useIsNarrow = (): boolean => useMedia(NARROW.media)

function clampWidth(width: number): number {
  return Math.round(Math.max(MIN_SIDEBAR_WIDTH, Math.min(width, MAX_SIDEBAR_WIDTH)))
}
