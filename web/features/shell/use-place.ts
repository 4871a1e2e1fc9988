import { useLocation, useParams } from '@tanstack/react-router'

/** The base, table and view of the present route, as the address names them. */
export function useOpenPlace(): { baseId?: string; tableId?: string; viewId?: string } {
  const { baseId, tableId, viewId } = useParams({ strict: false })
  return { baseId, tableId, viewId }
}

/** Whether a base's first page is open, its members and data sources included: not a table, not the diagram. */
export function useIsBaseHome(): boolean {
  const { pathname } = useLocation()
  return /^\/[^/]+\/[^/]+(\/auth)?\/?$/.test(pathname)
}

/** The page of a base that is open beside its tables; null for any other. */
export function useBasePage(): 'history' | 'trash' | null {
  const { pathname } = useLocation()
  const name = /^\/[^/]+\/[^/]+\/(history|trash)\/?$/.exec(pathname)?.[1]
  return name === 'history' || name === 'trash' ? name : null
}
