/** Where the cards of a gallery stand: arithmetic alone, so that 100,000 need no more than the few in sight. */

const MIN_CARD_PX = 230
/** Between two cards, and around all of them. */
const GAP_PX = 14
const INSET_PX = 16
const PHONE_INSET_PX = 10
const PHONE_PX = 520
/** Room under the last row, in which the bar of chosen cards may lie. */
const TAIL_PX = 64

export interface GalleryLayout {
  columns: number
  /** Pixels across a card, and down it. */
  cardWidth: number
  cardHeight: number
  /** From the start edge of a card to that of the next, and from row to row. */
  columnStep: number
  rowStep: number
  inset: number
  /** Places: the cards, and the one that adds a record. */
  places: number
  rows: number
  /** Height of all of it. */
  height: number
}

/** The layout of that many places in a box of a width; on a phone one card stands in a row. */
export function layoutGallery(width: number, places: number, cardHeight: number): GalleryLayout {
  const inset = width <= PHONE_PX ? PHONE_INSET_PX : INSET_PX
  const room = Math.max(0, width - 2 * inset)
  const columns = width <= PHONE_PX ? 1 : Math.max(1, Math.floor((room + GAP_PX) / (MIN_CARD_PX + GAP_PX)))
  const cardWidth = Math.max(0, Math.floor((room - GAP_PX * (columns - 1)) / columns))
  const rowStep = cardHeight + GAP_PX
  const rows = Math.ceil(places / columns)
  return {
    columns,
    cardWidth,
    cardHeight,
    rowStep,
    inset,
    places,
    rows,
    columnStep: cardWidth + GAP_PX,
    height: rows * rowStep - (rows > 0 ? GAP_PX : 0) + 2 * inset + TAIL_PX,
  }
}

/** Where a place stands, from the start edge and the top of all. */
export function placeOf(layout: GalleryLayout, index: number): { start: number; top: number } {
  const { columns, columnStep, rowStep, inset } = layout
  return {
    start: inset + (index % columns) * columnStep,
    top: inset + Math.floor(index / columns) * rowStep,
  }
}

export interface RowSpan {
  first: number
  /** Included; below `first` where there is none. */
  last: number
}

/** The rows that touch a stretch of the height. */
export function rowsIn(layout: GalleryLayout, top: number, bottom: number): RowSpan {
  const { inset, rowStep, rows } = layout
  const first = Math.max(0, Math.floor((top - inset) / rowStep))
  const last = Math.min(rows - 1, Math.floor((bottom - inset) / rowStep))
  return { first, last }
}

/** The scroll position that brings a place in sight with the least movement. */
export function revealTop(layout: GalleryLayout, index: number, top: number, viewport: number): number {
  const { inset, cardHeight } = layout
  const { top: at } = placeOf(layout, index)
  if (at - inset < top) return Math.max(0, at - inset)
  // A card taller than the window shows its head.
  const end = Math.min(at - inset, at + cardHeight + inset - viewport)
  return Math.max(top, end)
}

/**
 * The index that a card is let go ahead of, at a point from the start edge and the top of all. `records` is how
 * many there are: ahead of that index is the end.
 */
export function dropIndex(layout: GalleryLayout, x: number, y: number, records: number): number {
  const { columns, columnStep, rowStep, inset } = layout
  const row = Math.max(0, Math.floor((y - inset) / rowStep))
  const column = Math.max(0, Math.min(columns, Math.round((x - inset) / columnStep)))
  return Math.min(records, row * columns + column)
}

/** Where the bar stands that shows the index: at the end of a row rather than at the start of the next. */
export function dropBar(layout: GalleryLayout, x: number, index: number): { start: number; top: number } {
  const { columns, columnStep, inset } = layout
  const isRowEnd = index > 0 && index % columns === 0 && x > inset + (columns - 0.5) * columnStep
  const at = placeOf(layout, isRowEnd ? index - 1 : index)
  const gap = columnStep - layout.cardWidth
  return { start: at.start + (isRowEnd ? columnStep : 0) - gap / 2, top: at.top }
}

/** The place that a key goes to from another; null for keys that go nowhere. `forward` is the key of the reading direction. */
export function placeAfterKey(
  layout: GalleryLayout,
  index: number,
  key: string,
  { isRtl, pageRows }: { isRtl: boolean; pageRows: number },
): number | null {
  const { columns, places } = layout
  const clamp = (at: number) => Math.max(0, Math.min(places - 1, at))
  // Up and down keep the column; past the last, short row they go to its end.
  const byRows = (rows: number) => {
    const target = index + rows * columns
    if (target < 0) return index % columns
    return clamp(target)
  }
  switch (key) {
    case 'ArrowRight':
      return clamp(index + (isRtl ? -1 : 1))
    case 'ArrowLeft':
      return clamp(index + (isRtl ? 1 : -1))
    case 'ArrowDown':
      return byRows(1)
    case 'ArrowUp':
      return byRows(-1)
    case 'PageDown':
      return byRows(pageRows)
    case 'PageUp':
      return byRows(-pageRows)
    case 'Home':
      return 0
    case 'End':
      return clamp(places - 1)
    default:
      return null
  }
}
