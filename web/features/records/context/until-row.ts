import type { GridSource } from '../../../grid/contract.ts'
import type { RecordStore } from '../../../records/record-store.ts'

/**
 * Waits until the grid contains a row index. The count arrives after the first page; just after a filtering search ends,
 * it is still the number of results.
 */
export function untilRow(source: GridSource, row: number): Promise<void> {
  return untilTrue(source, () => (source.rowCount ?? 0) > row)
}

/** Waits until the number of records is known, without which none can be added at the end. */
export const untilCounted = (store: Pick<RecordStore, 'source' | 'isCounted'>): Promise<void> =>
  untilTrue(store.source, store.isCounted)

function untilTrue(source: GridSource, isThere: () => boolean): Promise<void> {
  if (isThere()) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (!isThere()) return
      stop()
      resolve()
    })
  })
}
