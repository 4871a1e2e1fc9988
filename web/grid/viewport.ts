import {
  anchorOf,
  GROUP_HEIGHT,
  hiddenBetween,
  plainLines,
  type RowLines,
  topOfAnchor,
} from './groups/row-lines.ts'
import {
  ADD_ROW_HEIGHT,
  type ColumnLayout,
  columnAt,
  FOOTER_HEIGHT,
  HEADER_HEIGHT,
  layoutColumns,
  revealColumn,
  type Span,
  visibleColumns,
} from './layout.ts'
import {
  follow,
  mustRealign,
  realign,
  type ScrollPosition,
  type ScrollSize,
  scrollSize,
} from './scroll-map.ts'
import type { CellPosition, GridSize } from './selection.ts'
import { createStore } from './store.ts'

/** Rows mounted ahead of the scroll: 0.11 s at 7,000 px/s, which covers a slow frame. */
const AHEAD_PX = 800
const BEHIND_PX = 240
const COLUMN_MARGIN_PX = 320
/** Rows are mounted in batches: layout and paint cost about the same for one row as for several. */
const ROW_GROUP = 8
/** Blank space below the last row. */
const TAIL_PX = 48
/** Seconds of scrolling at the current speed to request in advance. */
const LOAD_AHEAD_S = 0.5
const LOAD_LEAST_ROWS = 40
const REST_MS = 160
const BAND_PX = 256

/** Follows the scroll container and determines the mounted rows and columns. */
export class Viewport {
  readonly mounted = createStore<Mounted>(NOTHING_MOUNTED)
  /** Vertical scroll position. */
  readonly scrolled = createStore(0)
  /** Width of the scroll container, which decides how many columns may be frozen. */
  readonly width = createStore(0)
  rtl = false
  element: HTMLElement | null = null
  private body: HTMLElement | null = null
  /** Horizontal scroll position from the start edge. */
  inline = 0
  private height = 0
  private position: ScrollPosition = { scrollTop: 0, top: 0 }
  private content: Content = {
    rows: 0,
    columns: 0,
    lines: plainLines(0, 32),
    groupLevels: 0,
    layout: layoutColumns([], 0, 0),
    canAddRows: false,
    requestRange: () => {},
  }
  private readonly speed = new ScrollSpeed()
  private restTimer: ReturnType<typeof setTimeout> | undefined

  /**
   * Follows a scroll container until the returned function is called. `body` contains the rows; the viewport sets its
   * height.
   */
  attach(element: HTMLElement, body: HTMLElement): () => void {
    this.element = element
    this.body = body
    const onScroll = () => this.onScroll()
    const observer = new ResizeObserver(() => this.measure())
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(element)
    // Another language may turn the page around; the sizes stay.
    const turned = new MutationObserver(() => this.measure())
    turned.observe(document.documentElement, { attributeFilter: ['dir'] })
    this.measure()
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
      turned.disconnect()
      clearTimeout(this.restTimer)
      this.element = null
      this.body = null
    }
  }

  /** Applies changed rows, columns or sizes, and keeps the top line in place. */
  update(content: Content): void {
    const before = this.content.lines
    const { lines } = content
    const anchor = before === lines || this.position.top <= 0 ? null : anchorOf(before, this.position.top)
    this.content = content
    this.mount()
    const top = anchor && topOfAnchor(anchor, lines)
    if (top !== null && Math.abs(top - this.position.top) >= 1) this.scrollTo({ top })
    else this.keepInside()
  }

  /** Body height in sight, without header and footer. */
  get bodyHeight(): number {
    return Math.max(0, this.height - HEADER_HEIGHT - FOOTER_HEIGHT)
  }

  get pageRows(): number {
    return Math.max(1, Math.floor(this.bodyHeight / this.content.lines.rowHeight) - 1)
  }

  get top(): number {
    return this.position.top
  }

  /** A row's position in the scrolled element. */
  rowTop(row: number): number {
    return this.content.lines.topOf(row) - this.mounted.get().origin
  }

  /** Scrolls by virtual pixels and inline pixels, both absolute. */
  scrollTo({ top = this.position.top, inline = this.inline }: { top?: number; inline?: number }): void {
    const element = this.element
    if (!element) return
    const size = this.size()
    const wanted = Math.max(0, Math.min(top, size.virtual - size.viewport))
    const near = Math.abs(wanted - this.position.top) < size.viewport * 2
    const moved = { scrollTop: this.position.scrollTop + wanted - this.position.top, top: wanted }
    this.position = near && !mustRealign(size, moved) ? moved : realign(size, { scrollTop: 0, top: wanted })
    this.inline = Math.max(0, inline)
    this.mount()
    this.write()
  }

  /**
   * Scrolls just far enough to show a cell. If it is more than a page away, `withRoom` places it in the upper half,
   * with its neighbours visible.
   */
  reveal({ row, column }: CellPosition, withRoom = false): void {
    const { lines, layout, rows, groupLevels } = this.content
    // The sticky headers of its groups cover the rows above it.
    const start = lines.topOf(row) - groupLevels * GROUP_HEIGHT
    const end = lines.topOf(row) + lines.rowHeight + (row === rows - 1 ? ADD_ROW_HEIGHT : 0)
    let top = this.position.top
    const away = Math.max(top - start, end - top - this.bodyHeight)
    if (withRoom && away > this.bodyHeight) top = Math.max(0, start - this.bodyHeight / 3)
    else if (start < top) top = start
    else if (end > top + this.bodyHeight) top = Math.min(start, end - this.bodyHeight)
    const inline = revealColumn(layout, column, this.inline, this.width.get())
    if (top !== this.position.top || inline !== this.inline) this.scrollTo({ top, inline })
  }

  /** The cell at a point of the window: column -1 is the row number; rows and columns may lie beyond the last. */
  cellAt(clientX: number, clientY: number): CellPosition {
    const { x, y } = this.pointIn(clientX, clientY)
    return {
      row: this.content.lines.rowAt(y + this.position.top),
      column: columnAt(this.content.layout, x, this.inline),
    }
  }

  /** A point of the window as distance from the body's top start corner. */
  pointIn(clientX: number, clientY: number): { x: number; y: number } {
    const rect = this.element?.getBoundingClientRect() ?? new DOMRect()
    const x = this.rtl ? rect.right - clientX : clientX - rect.left
    return { x, y: clientY - rect.top - HEADER_HEIGHT }
  }

  private size(): ScrollSize {
    const { lines, canAddRows } = this.content
    const virtual = lines.height + (canAddRows ? ADD_ROW_HEIGHT : 0) + TAIL_PX
    return scrollSize(Math.max(virtual, this.bodyHeight), this.bodyHeight)
  }

  private measure(): void {
    if (!this.element) return
    this.rtl = getComputedStyle(this.element).direction === 'rtl'
    this.height = this.element.clientHeight
    this.width.set(this.element.clientWidth)
    this.mount()
  }

  private onScroll(): void {
    const element = this.element
    if (!element) return
    const size = this.size()
    const before = this.position.top
    this.position = follow(size, this.position, element.scrollTop)
    // In RTL the offset counts from 0 down into the negative (CSSOM View).
    this.inline = Math.abs(element.scrollLeft)
    this.speed.note(this.position.top - before, 4 * this.bodyHeight)
    if (mustRealign(size, this.position)) this.realign()
    this.mount()
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.rest(), REST_MS)
  }

  /** Corrects the scrollbar and stops loading ahead after scrolling has stopped. */
  private rest(): void {
    this.speed.now = 0
    this.realign()
    this.mount()
  }

  private realign(): void {
    const aligned = realign(this.size(), this.position)
    if (aligned.scrollTop === this.position.scrollTop) return
    this.position = aligned
    this.mount()
    this.write()
  }

  /** Clamps the position after the table shrank, as the browser has already done. */
  private keepInside(): void {
    const size = this.size()
    if (this.position.top > Math.max(0, size.virtual - size.viewport)) this.scrollTo({})
  }

  private write(): void {
    if (!this.element) return
    this.element.scrollTop = this.position.scrollTop
    this.element.scrollLeft = this.rtl ? -this.inline : this.inline
    // Browsers round to device pixels and clamp at the end; continue from the actual position.
    this.inline = Math.abs(this.element.scrollLeft)
    const cut = this.element.scrollTop - this.position.scrollTop
    if (cut !== 0) {
      this.position = { scrollTop: this.element.scrollTop, top: Math.max(0, this.position.top + cut) }
      this.mount()
    }
  }

  /** Computes the mounted rows and columns, and publishes them if they changed. */
  private mount(): void {
    const { lines, layout } = this.content
    const size = this.size()
    const down = this.speed.now >= 0
    const rowsOf = (pixels: number) => Math.ceil(pixels / lines.rowHeight)
    const wanted = this.placesBetween(down ? BEHIND_PX : AHEAD_PX, down ? AHEAD_PX : BEHIND_PX)
    const places = {
      first: wanted.first - (wanted.first % ROW_GROUP),
      last: Math.min(lines.shown - 1, wanted.last + ROW_GROUP - 1 - (wanted.last % ROW_GROUP)),
    }
    const columnSpan = visibleColumns(layout, this.inline, this.width.get(), COLUMN_MARGIN_PX)
    const next: Mounted = {
      lines,
      places,
      rows: { first: lines.rowOf(places.first), last: places.last < 0 ? -1 : lines.rowOf(places.last) },
      band: lines.lines.length === 0 ? NOTHING_MOUNTED.band : this.band(),
      columns: columnSpan,
      // Exactly 0 without scaling, so that rows follow a bouncing scrollbar (below 0 in Safari).
      origin: size.virtual > size.physical ? this.position.top - this.position.scrollTop : 0,
      pool: rowsOf(this.bodyHeight + AHEAD_PX + BEHIND_PX) + 2 * ROW_GROUP + 2,
    }
    // Set before React renders: the element needs its height before it can scroll there.
    if (this.body) this.body.style.blockSize = `${size.physical}px`
    if (!isSameMounted(next, this.mounted.get())) this.mounted.set(next)
    this.scrolled.set(this.position.top)
    if (lines.shown > 0 && this.bodyHeight > 0) this.request()
  }

  /** Rounded to steps, so that few scroll events cause a render. */
  private band(): Span {
    const first = Math.floor((this.position.top - AHEAD_PX) / BAND_PX) * BAND_PX
    return { first, last: first + this.bodyHeight + 2 * AHEAD_PX + BAND_PX }
  }

  /** Positions of the visible rows, extended by pixels on both sides. */
  private placesBetween(before: number, after: number): Span {
    const { lines } = this.content
    const { top } = this.position
    // Clamped to the visible rows.
    const first = lines.placeOf(lines.rowAt(Math.max(0, top - before)))
    const last = lines.placeOf(lines.rowAt(Math.max(0, top + this.bodyHeight + after - 1)))
    return { first: Math.max(0, Math.min(first, lines.shown)), last: Math.min(lines.shown - 1, last) }
  }

  /** Requests rows that are or will soon be visible. */
  private request(): void {
    const { lines, requestRange } = this.content
    const ahead = this.speed.now * LOAD_AHEAD_S
    const least = LOAD_LEAST_ROWS * lines.rowHeight
    const { first, last } = this.placesBetween(least + Math.max(0, -ahead), least + Math.max(0, ahead))
    if (last >= first) requestRange(lines.rowOf(first), lines.rowOf(last), hiddenBetween(lines, first, last))
  }
}

/** Scroll speed in pixels per second, positive downwards. */
class ScrollSpeed {
  now = 0
  private lastAt = 0

  /** Records a scroll step; one over more than `jump` pixels resets the speed. */
  note(delta: number, jump: number): void {
    const at = performance.now()
    const seconds = (at - this.lastAt) / 1000
    this.lastAt = at
    if (seconds > 0.2 || Math.abs(delta) > jump) this.now = 0
    else this.now = this.now * 0.6 + (delta / Math.max(seconds, 0.008)) * 0.4
  }
}

/** The mounted rows and columns. */
interface Mounted {
  /** Positions of rows and of the lines between them. */
  lines: RowLines
  /** Positions among visible rows, see `RowLines.rowOf`; `rows` are the first and last of them. */
  places: Span
  rows: Span
  /** Part of the body for which group headers are mounted. */
  band: Span
  /** Scrolling columns; frozen ones are always mounted. */
  columns: Span
  /** Subtracted from a row's virtual top to get its position in the scrolled element (see scroll-map.ts). */
  origin: number
  /** Rows are recycled: position `i` reuses the element of `i - pool`, which is out of sight. */
  pool: number
}

/** Initial state. */
const NOTHING_MOUNTED: Mounted = {
  lines: plainLines(0, 32),
  places: { first: 0, last: -1 },
  rows: { first: 0, last: -1 },
  band: { first: 0, last: -1 },
  columns: { first: 0, last: -1 },
  origin: 0,
  pool: 1,
}

/** Grid state the viewport lays out. */
interface Content extends GridSize {
  lines: RowLines
  /** Number of sticky group headers. */
  groupLevels: number
  layout: ColumnLayout
  canAddRows: boolean
  /** `hidden`: rows between them in collapsed groups. */
  requestRange: (first: number, last: number, hidden: Span[]) => void
}

const sameSpan = (a: Span, b: Span): boolean => a.first === b.first && a.last === b.last

/** True if both mount the same rows, columns and lines. */
const isSameMounted = (a: Mounted, b: Mounted): boolean =>
  a.lines === b.lines &&
  sameSpan(a.places, b.places) &&
  sameSpan(a.band, b.band) &&
  sameSpan(a.columns, b.columns) &&
  a.origin === b.origin &&
  a.pool === b.pool
