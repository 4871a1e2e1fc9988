import type { RecordId } from '../../../src/core/model.ts'

/** Consecutive loaded rows. */
interface Run {
  /** Index of its first row. */
  start: number
  ids: RecordId[]
  /** Logical time at which it was last visible. */
  used: number
}

/** Rows `first` to `last`, both included. */
export interface RowRange {
  first: number
  last: number
}

export type Segments = ReturnType<typeof createSegments>

/**
 * Maps row indexes to record ids: runs of loaded ids with gaps between them, so that a list of a million rows holds
 * only the rows visited. Inserting and removing rows shifts those after them.
 */
export function createSegments() {
  let runs: Run[] = []
  const runOf = new Map<RecordId, Run>()
  let clock = 0

  /** Index in `runs` of the last run that starts at or before the row; -1: no run. */
  function runBefore(index: number): number {
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (runs[middle]!.start <= index) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  function runAt(index: number): Run | undefined {
    const run = runs[runBefore(index)]
    return run && index < run.start + run.ids.length ? run : undefined
  }

  function shiftFrom(index: number, by: number): void {
    for (const run of runs) if (run.start >= index) run.start += by
  }

  function addRun(start: number, ids: RecordId[]): void {
    if (ids.length === 0) return
    const run = { start, ids, used: ++clock }
    runs.splice(runBefore(start) + 1, 0, run)
    for (const id of ids) runOf.set(id, run)
  }

  function dropRun(run: Run): RecordId[] {
    runs = runs.filter((other) => other !== run)
    const dropped = run.ids.filter((id) => runOf.get(id) === run)
    for (const id of dropped) runOf.delete(id)
    return dropped
  }

  /** Unloads rows `first` to `last`, leaving a gap. */
  function clearRange({ first, last }: RowRange): void {
    for (const run of [...runs]) {
      const end = run.start + run.ids.length - 1
      if (run.start > last || end < first) continue
      const { ids } = run
      dropRun(run)
      addRun(run.start, ids.slice(0, Math.max(0, first - run.start)))
      addRun(last + 1, ids.slice(last + 1 - run.start))
    }
  }

  return {
    /** The record at a row; undefined if not loaded. */
    idAt(index: number): RecordId | undefined {
      const run = runAt(index)
      return run?.ids[index - run.start]
    },

    /** The row of a record; undefined if not loaded. */
    indexOf(id: RecordId): number | undefined {
      const run = runOf.get(id)
      return run && run.start + run.ids.indexOf(id)
    },

    has: (id: RecordId): boolean => runOf.has(id),

    /** Number of loaded rows. */
    get size(): number {
      return runOf.size
    },

    /** The row after the last loaded one: the list is at least this long. */
    get end(): number {
      const last = runs.at(-1)
      return last ? last.start + last.ids.length : 0
    },

    /** Every loaded record, in row order. */
    ids: (): RecordId[] => runs.flatMap((run) => run.ids),

    /**
     * Sets the records from a row on. A record loaded elsewhere has moved: its old run is out of date and dropped.
     * Returns the ids of records that are no longer loaded.
     */
    put(start: number, ids: RecordId[]): RecordId[] {
      if (ids.length === 0) return []
      const before = new Set(ids.map((_, offset) => this.idAt(start + offset)))
      clearRange({ first: start, last: start + ids.length - 1 })
      const stale = new Set(ids.map((id) => runOf.get(id)).filter((run) => run !== undefined))
      const dropped = [...stale].flatMap(dropRun)
      addRun(start, [...ids])
      return [...dropped, ...before].filter((id) => id !== undefined && !runOf.has(id)) as RecordId[]
    },

    /** Inserts records at a row and shifts that row and the following ones down. */
    insert(index: number, ids: RecordId[]): void {
      const host = runAt(index) ?? runAt(index - 1)
      for (const run of runs) if (run !== host && run.start >= index) run.start += ids.length
      if (!host) {
        addRun(index, [...ids])
        return
      }
      host.ids.splice(index - host.start, 0, ...ids)
      for (const id of ids) runOf.set(id, host)
    },

    /** Removes loaded records and shifts the following rows up. */
    remove(ids: Iterable<RecordId>): void {
      for (const id of ids) {
        const run = runOf.get(id)
        if (!run) continue
        const at = run.ids.indexOf(id)
        run.ids.splice(at, 1)
        runOf.delete(id)
        shiftFrom(run.start + 1, -1)
        if (run.ids.length === 0) dropRun(run)
      }
    },

    /** Replaces a record's id, e.g. a local one by the server's. */
    rename(from: RecordId, to: RecordId): void {
      const run = runOf.get(from)
      if (!run) return
      run.ids[run.ids.indexOf(from)] = to
      runOf.delete(from)
      runOf.set(to, run)
    },

    /** The rows of a range that are not loaded; marks the loaded ones as recently visible. */
    gaps({ first, last }: RowRange): RowRange[] {
      const found: RowRange[] = []
      let next = first
      for (const run of runs) {
        const end = run.start + run.ids.length - 1
        if (end < first || run.start > last) continue
        run.used = ++clock
        if (run.start > next) found.push({ first: next, last: run.start - 1 })
        next = end + 1
      }
      if (next <= last) found.push({ first: next, last })
      return found
    },

    /**
     * Unloads the least recently visible runs until at most `most` rows are loaded. Runs that overlap `visible` or
     * contain a pinned record stay. Returns the unloaded ids.
     */
    evict(most: number, visible: RowRange, isPinned: (id: RecordId) => boolean): RecordId[] {
      if (runOf.size <= most) return []
      const idle = runs
        .filter((run) => run.start > visible.last || run.start + run.ids.length <= visible.first)
        .filter((run) => !run.ids.some(isPinned))
        .sort((a, b) => a.used - b.used)
      const dropped: RecordId[] = []
      for (const run of idle) {
        if (runOf.size <= most) break
        dropped.push(...dropRun(run))
      }
      return dropped
    },

    clear(): void {
      runs = []
      runOf.clear()
    },
  }
}
