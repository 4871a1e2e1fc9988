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
  visibleRows,
} from './layout.ts'
import { follow, mustSettle, type ScrollPosition, type ScrollSize, scrollSize, settle } from './scroll-map.ts'
import type { CellPosition, GridSize } from './selection.ts'
import { createStore } from './store.ts'

/** The rows and columns that stand in the document at present. */
export interface Mounted {
  rows: Span
  /** Of the columns that scroll; frozen ones are always there. */
  columns: Span
  /** What to take off a row's virtual top to place it in the scrolled element (see scroll-map.ts). */
  origin: number
  /** Rows are recycled: row `i` uses the element of row `i - pool`, which can no longer be in sight. */
  pool: number
}

/** Room kept filled ahead of the scrolling: 0.11 s at 7,000 px/s, in which a slow frame stays covered. */
const AHEAD_PX = 800
const BEHIND_PX = 240
const COLUMN_MARGIN_PX = 320
/** Rows are mounted in groups: laying out and painting costs about the same for one row as for some. */
const ROW_GROUP = 8
/** Blank room under the last row, so that it does not stick to the footer. */
const TAIL_PX = 48
/** Seconds of scrolling at the present speed that the source is asked for in advance. */
const LOAD_AHEAD_S = 0.5
const LOAD_LEAST_ROWS = 40
const REST_MS = 160

const NOTHING: Mounted = {
  rows: { first: 0, last: -1 },
  columns: { first: 0, last: -1 },
  origin: 0,
  pool: 1,
}

/** What the viewport must know of the grid to place things. */
export interface Content extends GridSize {
  rowHeight: number
  layout: ColumnLayout
  canAddRows: boolean
  requestRange: (first: number, last: number) => void
}

/** The window onto the rows: follows the scroll container and says what must be mounted. */
export class Viewport {
  readonly mounted = createStore<Mounted>(NOTHING)
  /** Width of the scroll container, which decides how many columns may be frozen. */
  readonly width = createStore(0)
  rtl = false
  element: HTMLElement | null = null
  private body: HTMLElement | null = null
  /** How far the columns are scrolled from the start edge. */
  inline = 0
  private height = 0
  private position: ScrollPosition = { scrollTop: 0, top: 0 }
  private content: Content = {
    rows: 0,
    columns: 0,
    rowHeight: 32,
    layout: layoutColumns([], 0, 0),
    canAddRows: false,
    requestRange: () => {},
  }
  private speed = 0
  private lastScrollAt = 0
  private restTimer: ReturnType<typeof setTimeout> | undefined

  /**
   * Follows a scroll container until the function that is given back is called. `body` is the element
   * in it that holds the rows; its height is kept here.
   */
  attach(element: HTMLElement, body: HTMLElement): () => void {
    this.element = element
    this.body = body
    const onScroll = () => this.onScroll()
    const observer = new ResizeObserver(() => this.measure())
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(element)
    this.measure()
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
      clearTimeout(this.restTimer)
      this.element = null
      this.body = null
    }
  }

  /** Takes over changed rows, columns or sizes; the row in sight at the top stays there. */
  update(content: Content): void {
    const topRow = this.position.top / this.content.rowHeight
    const heightChanged = content.rowHeight !== this.content.rowHeight
    this.content = content
    this.mount()
    if (heightChanged) this.scrollTo({ top: topRow * content.rowHeight })
    else this.keepInside()
  }

  /** Body height in sight, without header and footer. */
  get bodyHeight(): number {
    return Math.max(0, this.height - HEADER_HEIGHT - FOOTER_HEIGHT)
  }

  get pageRows(): number {
    return Math.max(1, Math.floor(this.bodyHeight / this.content.rowHeight) - 1)
  }

  get top(): number {
    return this.position.top
  }

  /** Where a row stands in the scrolled element. */
  rowTop(row: number): number {
    return row * this.content.rowHeight - this.mounted.get().origin
  }

  /** Scrolls by virtual pixels and inline pixels, both absolute. */
  scrollTo({ top = this.position.top, inline = this.inline }: { top?: number; inline?: number }): void {
    const element = this.element
    if (!element) return
    const size = this.size()
    const wanted = Math.max(0, Math.min(top, size.virtual - size.viewport))
    const near = Math.abs(wanted - this.position.top) < size.viewport * 2
    const moved = { scrollTop: this.position.scrollTop + wanted - this.position.top, top: wanted }
    this.position = near && !mustSettle(size, moved) ? moved : settle(size, { scrollTop: 0, top: wanted })
    this.inline = Math.max(0, inline)
    this.mount()
    this.write()
  }

  /**
   * Scrolls as little as is needed to bring a cell in sight. One that is further than a page away comes to
   * stand in the upper half with `withRoom`, so that one sees what is around it.
   */
  reveal({ row, column }: CellPosition, withRoom = false): void {
    const { rowHeight, layout, rows } = this.content
    const start = row * rowHeight
    const end = start + rowHeight + (row === rows - 1 ? ADD_ROW_HEIGHT : 0)
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
      row: Math.floor((y + this.position.top) / this.content.rowHeight),
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
    const { rows, rowHeight, canAddRows } = this.content
    const virtual = rows * rowHeight + (canAddRows ? ADD_ROW_HEIGHT : 0) + TAIL_PX
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
    this.noteSpeed(this.position.top - before)
    if (mustSettle(size, this.position)) this.settle()
    this.mount()
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.rest(), REST_MS)
  }

  /** When the scrolling has come to rest: the scrollbar goes where it belongs, and loading ahead ends. */
  private rest(): void {
    this.speed = 0
    this.settle()
    this.mount()
  }

  private settle(): void {
    const settled = settle(this.size(), this.position)
    if (settled.scrollTop === this.position.scrollTop) return
    this.position = settled
    this.mount()
    this.write()
  }

  /** A table that became shorter leaves the browser's own position, which the browser has cut already. */
  private keepInside(): void {
    const size = this.size()
    if (this.position.top > Math.max(0, size.virtual - size.viewport)) this.scrollTo({})
  }

  private write(): void {
    if (!this.element) return
    this.element.scrollTop = this.position.scrollTop
    this.element.scrollLeft = this.rtl ? -this.inline : this.inline
    // Browsers round to device pixels and cut at the end; go on from what they made of it.
    this.inline = Math.abs(this.element.scrollLeft)
    const cut = this.element.scrollTop - this.position.scrollTop
    if (cut !== 0) {
      this.position = { scrollTop: this.element.scrollTop, top: Math.max(0, this.position.top + cut) }
      this.mount()
    }
  }

  private noteSpeed(delta: number): void {
    const now = performance.now()
    const seconds = (now - this.lastScrollAt) / 1000
    this.lastScrollAt = now
    // A jump is not a speed.
    if (seconds > 0.2 || Math.abs(delta) > 4 * this.bodyHeight) this.speed = 0
    else this.speed = this.speed * 0.6 + (delta / Math.max(seconds, 0.008)) * 0.4
  }

  /** Works out what must stand in the document, and tells those who draw it if that is something else. */
  private mount(): void {
    const { rows, rowHeight, layout, requestRange } = this.content
    const size = this.size()
    const down = this.speed >= 0
    const rowsOf = (pixels: number) => Math.ceil(pixels / rowHeight)
    const extra = {
      before: rowsOf(down ? BEHIND_PX : AHEAD_PX),
      after: rowsOf(down ? AHEAD_PX : BEHIND_PX),
    }
    const wanted = visibleRows(this.position.top, this.bodyHeight, rowHeight, rows, extra)
    const rowSpan = {
      first: wanted.first - (wanted.first % ROW_GROUP),
      last: Math.min(rows - 1, wanted.last + ROW_GROUP - 1 - (wanted.last % ROW_GROUP)),
    }
    const columnSpan = visibleColumns(layout, this.inline, this.width.get(), COLUMN_MARGIN_PX)
    const next: Mounted = {
      rows: rowSpan,
      columns: columnSpan,
      // Exactly 0 without scaling: a bouncing scrollbar (below 0 in Safari) takes the rows with it.
      origin: size.virtual > size.physical ? this.position.top - this.position.scrollTop : 0,
      pool: rowsOf(this.bodyHeight + AHEAD_PX + BEHIND_PX) + 2 * ROW_GROUP + 2,
    }
    // Set here and not by React: the element must have its height before it can be scrolled so far.
    if (this.body) this.body.style.blockSize = `${size.physical}px`
    if (!isSame(next, this.mounted.get())) this.mounted.set(next)
    if (rows > 0 && this.bodyHeight > 0) this.request(requestRange, rowHeight, rows)
  }

  private request(requestRange: Content['requestRange'], rowHeight: number, rows: number): void {
    const ahead = Math.round((this.speed * LOAD_AHEAD_S) / rowHeight)
    const span = visibleRows(this.position.top, this.bodyHeight, rowHeight, rows, {
      before: LOAD_LEAST_ROWS + Math.max(0, -ahead),
      after: LOAD_LEAST_ROWS + Math.max(0, ahead),
    })
    if (span.last >= span.first) requestRange(span.first, span.last)
  }
}

const sameSpan = (a: Span, b: Span): boolean => a.first === b.first && a.last === b.last

const isSame = (a: Mounted, b: Mounted): boolean =>
  sameSpan(a.rows, b.rows) && sameSpan(a.columns, b.columns) && a.origin === b.origin && a.pool === b.pool
