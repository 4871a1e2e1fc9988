/** Layout of gallery cards, computed arithmetically, so that 100,000 cards cost no more than the visible ones. */

const MIN_CARD_PX = 230
/** Gap between cards, and inset around all. */
const GAP_PX = 14
const INSET_PX = 16
const PHONE_INSET_PX = 10
const PHONE_PX = 520
/** Space below the last row for the bar of selected cards. */
const TAIL_PX = 64

export interface GalleryLayout {
  columns: number
  /** Size of a card in pixels. */
  cardWidth: number
  cardHeight: number
  /** Distance between the start edges of neighbouring cards, and between rows. */
  columnStep: number
  rowStep: number
  inset: number
  /** Number of slots: the cards, and the one that adds a record. */
  places: number
  rows: number
  /** Total height. */
  height: number
}

/** The layout of a number of slots for a width; one card per row on phones. */
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

/** Position of a slot, relative to the start edge and top. */
export function placeOf(layout: GalleryLayout, index: number): { start: number; top: number } {
  const { columns, columnStep, rowStep, inset } = layout
  return {
    start: inset + (index % columns) * columnStep,
    top: inset + Math.floor(index / columns) * rowStep,
  }
}

export interface RowSpan {
  first: number
  /** Inclusive; less than `first` if there are no rows. */
  last: number
}

/** The rows that intersect a vertical range. */
export function rowsIn(layout: GalleryLayout, top: number, bottom: number): RowSpan {
  const { inset, rowStep, rows } = layout
  const first = Math.max(0, Math.floor((top - inset) / rowStep))
  const last = Math.min(rows - 1, Math.floor((bottom - inset) / rowStep))
  return { first, last }
}

/** The nearest scroll position at which a slot is visible. */
export function revealTop(layout: GalleryLayout, index: number, top: number, viewport: number): number {
  const { inset, cardHeight } = layout
  const { top: at } = placeOf(layout, index)
  if (at - inset < top) return Math.max(0, at - inset)
  // Shows the top of a card that is taller than the window.
  const end = Math.min(at - inset, at + cardHeight + inset - viewport)
  return Math.max(top, end)
}

/**
 * The index before which a card is dropped at a point, relative to the start edge and top. `records` is their number,
 * and as an index means the end.
 */
export function dropIndex(layout: GalleryLayout, x: number, y: number, records: number): number {
  const { columns, columnStep, rowStep, inset } = layout
  const row = Math.max(0, Math.floor((y - inset) / rowStep))
  const column = Math.max(0, Math.min(columns, Math.round((x - inset) / columnStep)))
  return Math.min(records, row * columns + column)
}

/** Position of the drop indicator: at the end of a row rather than at the start of the next. */
export function dropBar(layout: GalleryLayout, x: number, index: number): { start: number; top: number } {
  const { columns, columnStep, inset } = layout
  const isRowEnd = index > 0 && index % columns === 0 && x > inset + (columns - 0.5) * columnStep
  const at = placeOf(layout, isRowEnd ? index - 1 : index)
  const gap = columnStep - layout.cardWidth
  return { start: at.start + (isRowEnd ? columnStep : 0) - gap / 2, top: at.top }
}

/** The slot to which a key moves; null for other keys. `forward` is the arrow key in reading direction. */
export function placeAfterKey(
  layout: GalleryLayout,
  index: number,
  key: string,
  { isRtl, pageRows }: { isRtl: boolean; pageRows: number },
): number | null {
  const { columns, places } = layout
  const clamp = (at: number) => Math.max(0, Math.min(places - 1, at))
  // Up and down keep the column; in a shorter last row they go to its end.
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
