/** Dimensions of a record's card in pixels, as in record-card.module.css. */

/** Height of the cover. */
export const COVER_PX = 160
/** Padding. */
export const CARD_INSET = 12
const BORDER_PX = 2
const TITLE_PX = 24
/** Height of a field: name, value and the gap above. */
const FIELD_PX = 46

/** The height of a card with a title and one-line fields, optionally with a cover. */
export const cardHeight = (fieldCount: number, hasCover: boolean): number =>
  (hasCover ? COVER_PX : 0) + 2 * CARD_INSET + BORDER_PX + TITLE_PX + fieldCount * FIELD_PX

/** Lines of a long text on a card: one, or more if the card has space for an image but none to show. */
export function linesPerField(fieldCount: number, spare: number): number {
  if (fieldCount === 0) return 1
  return Math.min(4, 1 + Math.floor(spare / fieldCount / LINE_PX))
}

/** Height of one further line of text. */
const LINE_PX = 18
