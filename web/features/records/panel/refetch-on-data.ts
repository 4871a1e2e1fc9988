import { useEffect, useRef } from 'react'
import type { TableContext } from '../context/table-context.ts'

/** Reads again what the grid's rows do not hold, whenever records change. */
export function useRefetchOnData({ store }: TableContext, refetch: () => void): void {
  const latest = useRef(refetch)
  latest.current = refetch
  useEffect(() => store.onData(() => latest.current()), [store])
}
