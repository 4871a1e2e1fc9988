/** Cards drawn beyond the edge of what is in sight, in pixels. */
const AHEAD_PX = 400

/** Where each card of a stack lies: `tops[i]` for the i-th, and the end of the last behind them. */
export function cardTops(count: number, heightOf: (index: number) => number, gap: number): Float64Array {
  const tops = new Float64Array(count + 1)
  for (let index = 0; index < count; index++) tops[index + 1] = (tops[index] ?? 0) + heightOf(index) + gap
  return tops
}

/** The first card whose end lies below a place. */
export function cardAt(tops: Float64Array, place: number): number {
  let low = 0
  let high = Math.max(0, tops.length - 2)
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tops[middle + 1] ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}

/** The cards to draw, both ends included; `last` is -1 in an empty stack. */
export function cardWindow(
  tops: Float64Array,
  scrollTop: number,
  height: number,
): { first: number; last: number } {
  if (tops.length < 2) return { first: 0, last: -1 }
  return { first: cardAt(tops, scrollTop - AHEAD_PX), last: cardAt(tops, scrollTop + height + AHEAD_PX) }
}
