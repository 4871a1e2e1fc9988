import { useEffect, useRef } from 'react'
import type { TableContext } from '../context/table-context.ts'

/**
 * Reads again what the grid's rows do not hold, whenever records change: one read at a time, and one after the last
 * change.
 *
 * @param refetch resolves after the read, also if it failed
 */
export function useRefetchOnData({ store }: TableContext, refetch: () => Promise<unknown>): void {
  const latest = useRef(refetch)
  latest.current = refetch
  useEffect(() => {
    let isDue = false
    let isReading = false
    async function read() {
      isReading = true
      while (isDue) {
        isDue = false
        await latest.current()
      }
      isReading = false
    }
    const stop = store.onData(() => {
      isDue = true
      if (!isReading) void read()
    })
    return () => {
      isDue = false
      stop()
    }
  }, [store])
}
