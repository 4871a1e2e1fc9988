import type { GridRow, GridSource } from '../../../../grid/source.ts'

export type RowList = ReturnType<typeof createRowList>

/**
 * All rows of a source up to a limit as one list, which changes when any of them does: a calendar cannot
 * say which rows are in sight before it knows their dates.
 */
export function createRowList(source: GridSource, start: number) {
  let limit = start
  let rows: readonly GridRow[] = []
  let isStale = true
  let isDue = false
  const listeners = new Set<() => void>()
  /** What ends the following of each row. */
  const stops: (() => void)[] = []

  // Rows are told of one by one, a page of them at a time: they are gathered once for all of these.
  function changed(): void {
    if (isDue) return
    isDue = true
    queueMicrotask(() => {
      isDue = false
      isStale = true
      follow()
      for (const listener of [...listeners]) listener()
    })
  }

  function follow(): void {
    const wanted = Math.min(limit, source.rowCount ?? limit)
    for (let index = stops.length; index < wanted; index++) stops.push(source.subscribeRow(index, changed))
    source.requestRange(0, wanted - 1)
  }

  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      const stop = source.subscribe(changed)
      follow()
      return () => {
        listeners.delete(listener)
        stop()
        for (const end of stops.splice(0)) end()
      }
    },

    /** The loaded rows, in the source's order; the same list until one of them changes. */
    rows(): readonly GridRow[] {
      if (!isStale) return rows
      isStale = false
      const count = Math.min(limit, source.rowCount ?? limit)
      const found: GridRow[] = []
      for (let index = 0; index < count; index++) {
        const row = source.getRow(index)
        if (row) found.push(row)
      }
      rows = found
      return rows
    },

    limit: (): number => limit,

    /** Reads further, or (after another period was chosen) no further than this. */
    setLimit(next: number): void {
      if (next === limit) return
      limit = next
      for (const end of stops.splice(limit)) end()
      changed()
    },
  }
}
