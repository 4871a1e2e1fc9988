import type { GridSource } from '../../../grid/contract.ts'

/**
 * Waits until the grid has that many rows. The count comes after the first page, and right after a search
 * that filtered it is still the number of what was found.
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
