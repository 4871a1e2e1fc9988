import type { RowRange } from './segments.ts'

/** How rows are read, and which of them are missing. */
export interface LoaderDeps {
  /** The rows of a range that are missing. */
  gaps(range: RowRange): RowRange[]
  /** Reads rows; resolves when they are in their place. Rejects when the signal aborts or reading failed. */
  load(range: RowRange, signal: AbortSignal): Promise<void>
  onError(error: unknown): void
}

export type Loader = ReturnType<typeof createLoader>

/** Rows that one request reads at most, and the grain of the cache. */
export const BLOCK = 200

/** Requests under way at one time. */
const PARALLEL = 2

/** A jump further than this many rows, while still jumping, waits until the movement rests. */
const FAR = 4 * BLOCK
const REST_MS = 40

/**
 * Reads the rows that are wanted, in blocks. What is wanted changes with every step of a scroll: loads
 * that no longer matter are aborted, and while the thumb of the scroll bar flies over a long table none
 * is started until it rests.
 */
export function createLoader({ gaps, load, onError }: LoaderDeps) {
  const running = new Map<AbortController, RowRange>()
  let wanted: RowRange = { first: 0, last: -1 }
  let wantedAt = Number.NEGATIVE_INFINITY
  let direction = 1
  let timer: ReturnType<typeof setTimeout> | undefined

  /** What is in sight, and one block more in the direction of the movement. */
  const ahead = (): RowRange => {
    const { first, last } = wanted
    const range = direction > 0 ? { first, last: last + BLOCK / 2 } : { first: first - BLOCK / 2, last }
    return { first: Math.max(0, range.first), last: range.last }
  }

  function pump(): void {
    const near = ahead()
    for (const [controller, range] of running) {
      if (range.last < near.first - BLOCK || range.first > near.last + BLOCK) {
        running.delete(controller)
        controller.abort()
      }
    }
    for (const range of blocksOf([wanted, near].flatMap(gaps))) {
      if (running.size >= PARALLEL) return
      const isUnderWay = [...running.values()].some((other) => overlaps(other, range))
      if (!isUnderWay) void start(range)
    }
  }

  async function start(range: RowRange): Promise<void> {
    const controller = new AbortController()
    running.set(controller, range)
    try {
      await load(range, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) {
        // Left out of `running` only after the error was told, so that a failing block is not asked for in a loop.
        running.delete(controller)
        onError(error)
      }
      return
    }
    if (running.delete(controller)) pump()
  }

  return {
    /** Rows `first` to `last` are in sight now. Cheap: called on every step of a scroll. */
    want(range: RowRange): void {
      const now = performance.now()
      const jump = Math.abs(range.first - wanted.first)
      const isFlying = jump > FAR && now - wantedAt < 2 * REST_MS
      if (range.first !== wanted.first) direction = range.first > wanted.first ? 1 : -1
      wanted = range
      wantedAt = now
      clearTimeout(timer)
      if (isFlying) timer = setTimeout(pump, REST_MS)
      else pump()
    },

    /** Starts again with what is in sight; rows have moved, so answers under way would land wrongly. */
    restart(): void {
      this.stop()
      pump()
    },

    /** Aborts everything under way. */
    stop(): void {
      clearTimeout(timer)
      for (const controller of running.keys()) controller.abort()
      running.clear()
    },

    /** Remembers what is in sight without reading it: everything is about to be read anew. */
    note(range: RowRange): void {
      wanted = range
    },

    wanted: (): RowRange => wanted,
    isBusy: (): boolean => running.size > 0,
  }
}

const overlaps = (a: RowRange, b: RowRange): boolean => a.first <= b.last && b.first <= a.last

/**
 * Cuts gaps at the borders of blocks and widens each to what of its block is missing, so that scrolling
 * line by line asks for a block and not for single rows.
 */
export function blocksOf(gaps: RowRange[]): RowRange[] {
  const blocks = new Map<number, RowRange>()
  for (const gap of gaps) {
    for (let block = Math.floor(gap.first / BLOCK); block <= Math.floor(gap.last / BLOCK); block++) {
      blocks.set(block, { first: block * BLOCK, last: block * BLOCK + BLOCK - 1 })
    }
  }
  return [...blocks.values()]
}
