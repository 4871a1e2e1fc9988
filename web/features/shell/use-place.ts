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

/** The open page of a base's lists, or null. */
export function useBasePage(): 'comments' | 'history' | 'trash' | null {
  const { pathname } = useLocation()
  const name = /^\/[^/]+\/[^/]+\/(comments|history|trash)\/?$/.exec(pathname)?.[1]
  return name === 'comments' || name === 'history' || name === 'trash' ? name : null
}
