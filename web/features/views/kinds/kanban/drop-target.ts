/** A card as it lies on the screen. */
export interface CardBox {
  index: number
  top: number
  bottom: number
}

/** The place that a pointer means among cards: ahead of the first whose middle is below it, else behind the last. */
export function placeAmong(cards: readonly CardBox[], y: number): number {
  for (const { index, top, bottom } of cards) if (y < (top + bottom) / 2) return index
  return (cards.at(-1)?.index ?? -1) + 1
}

/** A stack as it lies on the screen, `start` and `end` in the direction of reading. */
export interface StackBox {
  start: number
  end: number
}

/** The stack that a pointer is over, or nearest to; -1 without any. */
export function nearestStack(boxes: readonly StackBox[], x: number): number {
  let best = -1
  let least = Number.POSITIVE_INFINITY
  for (const [at, { start, end }] of boxes.entries()) {
    const away = x < start ? start - x : x > end ? x - end : 0
    if (away < least) {
      least = away
      best = at
    }
  }
  return best
}
