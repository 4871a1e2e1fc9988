import { getQueryKey } from '@trpc/react-query'
import { useState } from 'react'
import { queryClient, trpc } from '../../trpc.ts'

const isOutdated = (tableId: string): boolean =>
  queryClient.getQueryState(getQueryKey(trpc.schema.table, { tableId }, 'query'))?.isInvalidated ?? false

/**
 * The query of a table's schema, for the screen that reads its records. What the cache holds of a table that changed
 * since it was last shown is left out until it has been read again: it may name fields that no longer exist.
 * Without a connection it is shown. A table that changes while it is on the screen stays there.
 */
export function useCurrentSchema(tableId: string) {
  const query = trpc.schema.table.useQuery({ tableId })
  const [arrival, setArrival] = useState(() => ({ tableId, outdated: isOutdated(tableId) }))
  if (arrival.tableId !== tableId) setArrival({ tableId, outdated: isOutdated(tableId) })
  const waits = arrival.outdated && query.isFetching && !query.isFetchedAfterMount
  return { query, schema: waits ? undefined : query.data }
}
