/** One frame of the page. */
export interface Frame {
  /** Its `requestAnimationFrame` timestamp, in ms since the page began. */
  atMs: number
  /** First row in sight. */
  top: number
  /** See `installProbe`. */
  isBlank: boolean
  /** Every row in sight has its values; otherwise some are skeletons. */
  isLoaded: boolean
}

/** What the bench asks of a page; `window.probe` in it. */
export interface Probe {
  /** ms since the page began until its first cells were painted; null until then. */
  firstCellsMs: number | null
  /** Looks at every frame until `stop`, which gives them. */
  start(): void
  stop(): Frame[]
  /** Times the jump that the next key makes, from when it was pressed. */
  timeKey(): Promise<Jump>
  /** Puts the scrollbar at a share of its way, where other rows are, and times that jump. */
  timeScrollbar(share: number): Promise<Jump>
}

/** How long it takes until the rows of another place are painted, as skeletons or values, and until all have values. */
export interface Jump {
  paintedMs: number
  loadedMs: number
}

declare global {
  interface Window {
    probe: Probe
  }
}

/** Heights of what lies over the rows in the scrolled element. */
export interface Frills {
  header: number
  footer: number
}

/**
 * Puts a probe into a page before its own scripts run. It goes there as text, so it may use nothing from outside.
 *
 * A frame is blank where a part of the grid's body has no row, or a row in sight has a cell that is neither value nor
 * skeleton. Each frame is judged twice: as it is about to be painted, and (in the `scroll` event, before the grid hears
 * of it) as the compositor, which scrolls without waiting for the page, has shown the rows that were there.
 */
export function installProbe({ header, footer }: Frills): void {
  const PATIENCE_MS = 30_000

  /** The rows that are, at least in part, in sight. */
  function look(): Omit<Frame, 'atMs'> {
    const grid = document.querySelector('[role="grid"]')
    if (!grid) return { top: -1, isBlank: true, isLoaded: false }
    const start = grid.getBoundingClientRect().top + header
    const end = start + grid.clientHeight - header - footer
    const total = Number(grid.getAttribute('aria-rowcount')) - 1
    const found = { top: Number.POSITIVE_INFINITY, isBlank: false, isLoaded: true }
    let covered = 0
    let room = end - start
    for (const row of grid.querySelectorAll<HTMLElement>('[data-testid="row"]')) {
      const box = row.getBoundingClientRect()
      if (box.bottom <= start || box.top >= end) continue
      const index = Number(row.dataset.index)
      covered += Math.min(box.bottom, end) - Math.max(box.top, start)
      found.top = Math.min(found.top, index)
      if (row.dataset.loaded === undefined) found.isLoaded = false
      const cells = row.querySelectorAll('[role="gridcell"]')
      if (cells.length === 0 || [...cells].some((cell) => !cell.hasChildNodes())) found.isBlank = true
      // Under the last row of all there is nothing to show.
      if (index === total - 1) room = Math.min(room, box.bottom - start)
    }
    // Rows stand on fractions of a pixel.
    if (covered < room - 1) found.isBlank = true
    return { ...found, isLoaded: found.isLoaded && !found.isBlank }
  }

  /** The time when what this frame shows has been painted: the next frame begins after that. */
  const painted = (): Promise<number> =>
    new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())))
  const nextFrame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()))

  let frames: Frame[] = []
  let isRunning = false
  let wasBlank = false
  const onScroll = () => {
    if (look().isBlank) wasBlank = true
  }
  function onFrame(atMs: number): void {
    if (!isRunning) return
    const seen = look()
    frames.push({ ...seen, atMs, isBlank: seen.isBlank || wasBlank })
    wasBlank = false
    requestAnimationFrame(onFrame)
  }

  /** Waits until rows other than those from `top` on fill the body and, with `loaded`, have their values. */
  async function arrival(top: number, loaded: boolean): Promise<number> {
    const begun = performance.now()
    while (performance.now() - begun < PATIENCE_MS) {
      await nextFrame()
      const seen = look()
      if (!seen.isBlank && seen.top !== top && (!loaded || seen.isLoaded)) return painted()
    }
    throw new Error(`The rows of another place did not come within ${PATIENCE_MS} ms`)
  }

  async function timeFrom(startMs: number, top: number): Promise<Jump> {
    const paintedMs = (await arrival(top, false)) - startMs
    return { paintedMs, loadedMs: (await arrival(top, true)) - startMs }
  }

  window.probe = {
    firstCellsMs: null,
    start() {
      frames = []
      isRunning = true
      window.addEventListener('scroll', onScroll, { capture: true, passive: true })
      requestAnimationFrame(onFrame)
    },
    stop() {
      isRunning = false
      window.removeEventListener('scroll', onScroll, { capture: true })
      return frames
    },
    async timeKey() {
      const { top } = look()
      const event = await new Promise<Event>((resolve) =>
        window.addEventListener('keydown', resolve, { capture: true, once: true }),
      )
      // When it was pressed, and not when the page got round to hearing of it.
      return timeFrom(event.timeStamp, top)
    },
    timeScrollbar(share) {
      const grid = document.querySelector('[role="grid"]')
      if (!grid) throw new Error('There is no grid')
      const { top } = look()
      const startMs = performance.now()
      grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * share
      return timeFrom(startMs, top)
    },
  }

  async function watchFirstCells(): Promise<void> {
    while (!look().isLoaded) await nextFrame()
    window.probe.firstCellsMs = await painted()
  }
  void watchFirstCells()
}
