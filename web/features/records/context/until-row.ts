import type { GridSource } from '../../../grid/contract.ts'

/**
 * Waits until the grid has that many rows. The count arrives after the first page, and directly after a filtering
 * search it still is the number of results.
 */
export function untilRow(source: GridSource, row: number): Promise<void> {
  const isThere = () => (source.rowCount ?? 0) > row
  if (isThere()) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (!isThere()) return
      stop()
      resolve()
    })
  })
}
