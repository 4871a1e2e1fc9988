/**
 * How many records each table holds, so that a page can say its total without counting. Exact: every
 * write passes the write door, which reports what it added; a table is counted once, when first asked.
 */
export interface RowCounts {
  /** False where others write as well, so that each question means counting anew. */
  readonly isKept: boolean
  get(tableId: string, count: () => Promise<number>): Promise<number>
  add(tableId: string, difference: number): void
  forget(tableId: string): void
}

/** @param isShared true where other processes write to the same tables: nothing is held then */
export function createRowCounts(isShared: boolean): RowCounts {
  const counts = new Map<string, number>()
  /** Grows when a table's count changes, so that a count that was under way meanwhile is not kept. */
  const touched = new Map<string, number>()
  const touch = (tableId: string) => touched.set(tableId, (touched.get(tableId) ?? 0) + 1)
  return {
    isKept: !isShared,
    async get(tableId, count) {
      const known = counts.get(tableId)
      if (known !== undefined) return known
      const before = touched.get(tableId)
      const counted = await count()
      if (!isShared && touched.get(tableId) === before) counts.set(tableId, counted)
      return counted
    },
    add(tableId, difference) {
      touch(tableId)
      const known = counts.get(tableId)
      if (known !== undefined) counts.set(tableId, known + difference)
    },
    forget(tableId) {
      touch(tableId)
      counts.delete(tableId)
    },
  }
}
