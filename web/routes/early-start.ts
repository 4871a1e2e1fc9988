import { currentPath } from '../navigation/paths.ts'
import { session } from '../session/index.ts'
import { cache } from '../trpc.ts'

/**
 * Asks for what the address needs, data and code at once, before the router and React begin. They find both
 * on the way, or there already; what fails here is asked for again by the screen, which says so.
 */
export function startEarly(): void {
  // One's own pages have a name where a base has its id, and `profile` could be one.
  const place = /^\/(?!account\/|profile\/)[^/]+\/(p[a-z0-9_]{6,})(?:\/(m[a-z0-9_]+))?/.exec(currentPath())
  if (!place || session.status() !== 'signedIn') return
  const [, baseId = '', tableId] = place
  // `useMe` and the rail ask for these, the shell on every page.
  void cache.auth.me.prefetch(undefined, { staleTime: 5 * 60_000 })
  void cache.bases.list.prefetch({})
  void cache.bases.get.prefetch({ baseId })
  void cache.schema.tables.prefetch({ baseId })
  if (tableId) {
    void cache.schema.table.prefetch({ tableId })
    void cache.records.people.prefetch({ baseId })
  }
  // After the request has gone out (tRPC gathers calls for one turn): over HTTP/1.1 a browser has six
  // connections, and forty files ahead of it would hold it up.
  setTimeout(() => {
    // Said by the screen that needs the part, with a way on (lazy-screen.ts).
    fetchParts(tableId !== undefined).catch((error) => console.warn('not fetched ahead of time', error))
  })
}

const fetchParts = (withTable: boolean): Promise<unknown> =>
  Promise.all([import('./base-screens.ts'), withTable && import('../features/views/kinds/table-screen.tsx')])
