import type { GridSource } from '../../../grid/contract.ts'

/**
 * Waits until the grid contains a row index. The count arrives after the first page; just after a filtering search ends,
 * it is still the number of results.
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
