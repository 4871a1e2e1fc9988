import { useLocation, useParams } from '../../navigation/router.tsx'

/** Base, table and view of the current route. */
export function useOpenPlace(): { baseId?: string; tableId?: string; viewId?: string } {
  const { baseId, tableId, viewId } = useParams()
  return { baseId, tableId, viewId }
}

/** Whether a base's start page is open, members and data sources included. */
export function useIsBaseHome(): boolean {
  const { path } = useLocation()
  return /^\/[^/]+\/[^/]+(\/auth)?\/?$/.test(path)
}

/** The open page of a base's lists, or null. */
export function useBasePage(): 'comments' | 'history' | 'trash' | 'webhooks' | null {
  const { path } = useLocation()
  const name = /^\/[^/]+\/[^/]+\/(comments|history|trash|webhooks)\/?$/.exec(path)?.[1]
  return name === 'comments' || name === 'history' || name === 'trash' || name === 'webhooks' ? name : null
}
