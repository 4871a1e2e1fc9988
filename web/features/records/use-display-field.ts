import type { UseDisplayField } from '../../cells/linked-names.ts'
import { trpc } from '../../trpc.ts'

/** How long the fields of a linked table are taken for known. */
const FRESH_MS = 60_000

/** The display field of a table, from the cache if it is there. */
export const useDisplayField: UseDisplayField = (tableId) => {
  const options = { enabled: tableId !== '', staleTime: FRESH_MS, retry: false }
  return trpc.schema.table.useQuery({ tableId }, options).data?.fields.find((field) => field.isDisplay)
}
