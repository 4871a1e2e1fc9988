import { readBasePlace } from '../navigation/base-place.ts'
import { expectContent } from '../navigation/first-content.ts'
import { currentPath } from '../navigation/paths.ts'
import { session } from '../session/index.ts'
import { cache } from '../trpc.ts'

/**
 * Starts loading the data and code for the current address before the router and React start. Screens retry and report
 * what fails here.
 */
export function startEarly(): void {
  const place = readBasePlace(currentPath())
  if (!place || session.status() !== 'signedIn') return
  const { baseId, tableId } = place
  // Data that every page needs for `useMe` and the rail.
  void cache.auth.me.prefetch(undefined, { staleTime: 5 * 60_000 })
  void cache.bases.list.prefetch({})
  void cache.bases.get.prefetch({ baseId })
  void cache.schema.tables.prefetch({ baseId })
  if (tableId) {
    expectContent(cache.schema.table.prefetch({ tableId }))
    void cache.records.people.prefetch({ baseId })
  }
  // After the request has been sent (tRPC batches calls of one tick): over HTTP/1.1 a browser has six connections, and
  // forty files before it would delay it.
  setTimeout(() => {
    // The screen that needs the part reports the failure and offers a retry (lazy-screen.ts).
    const parts = fetchParts(tableId !== undefined)
    expectContent(parts)
    parts.catch((error) => console.warn('not fetched ahead of time', error))
  })
}

const fetchParts = (withTable: boolean): Promise<unknown> =>
  Promise.all([import('./base-screens.ts'), withTable && import('../features/views/kinds/table-screen.tsx')])
