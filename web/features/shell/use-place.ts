import { useLocation, useParams } from '@tanstack/react-router'

/** Base, table and view of the current route. */
export function useOpenPlace(): { baseId?: string; tableId?: string; viewId?: string } {
  const { baseId, tableId, viewId } = useParams({ strict: false })
  return { baseId, tableId, viewId }
}

/** Whether a base's start page is open, members and data sources included. */
export function useIsBaseHome(): boolean {
  const { pathname } = useLocation()
  return /^\/[^/]+\/[^/]+(\/auth)?\/?$/.test(pathname)
}

/** The open history or trash page of a base, or null. */
export function useBasePage(): 'history' | 'trash' | null {
  const { pathname } = useLocation()
  const name = /^\/[^/]+\/[^/]+\/(history|trash)\/?$/.exec(pathname)?.[1]
  return name === 'history' || name === 'trash' ? name : null
}
