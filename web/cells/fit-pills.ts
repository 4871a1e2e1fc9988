/** Pixels that a pill takes besides its text, with the gap after it, and the "+n". */
const PILL_PX = 21
const MORE_PX = 30

/** Pixels of letters in the text of a pill, most of them a little too many. */
const NARROW = /[\s.,:;'|!ijltfrI()[\]-]/
const WIDE = /[A-Z@%&mwÀ-Þ]/
const IDEOGRAPH = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|\p{Extended_Pictographic}/u
const measure = (letter: string): number =>
  NARROW.test(letter) ? 4 : WIDE.test(letter) ? 8.5 : IDEOGRAPH.test(letter) ? 13 : 7

/** Letters that have been met. */
const known = new Map<string, number>()

function letterPx(letter: string): number {
  const before = known.get(letter)
  if (before !== undefined) return before
  const width = measure(letter)
  known.set(letter, width)
  return width
}

/** Heights of a line of text, and of a pill with the gap under it. */
const LINE_PX = 18
const PILL_ROW_PX = 24

/** A pill that is cut short still says something at this width. */
const LEAST_PX = 48

/** The width of a text, as far as it matters: what is wider than the cell is cut short anyway. */
function textPx(text: string, most: number): number {
  let width = 0
  for (const letter of text) {
    width += letterPx(letter)
    if (width > most) return width
  }
  return width
}

/**
 * How many pills fit, by the length of their titles: measuring each would make the browser lay out twice.
 * @param lines lines of text that fit; pills are higher
 * @param mayShrink true where the last one may be cut short, so that the room is used
 */
export function countFitting(
  titles: readonly string[],
  width: number,
  lines: number,
  { mayShrink = false } = {},
): number {
  // A cell has a little more room than its lines of text, which the last gap may lie in.
  const rows = Math.max(1, Math.floor((lines * LINE_PX + 10) / PILL_ROW_PX))
  let line = 1
  let used = 0
  for (const [index, title] of titles.entries()) {
    const pill = Math.min(width, textPx(title, width) + PILL_PX)
    const isLast = index === titles.length - 1
    const room = width - (line === rows && !isLast ? MORE_PX : 0)
    if (used + pill > room && used > 0) {
      if (line === rows) return mayShrink && room - used >= LEAST_PX ? index + 1 : index
      line++
      used = 0
    }
    used += pill
  }
  return titles.length
}
