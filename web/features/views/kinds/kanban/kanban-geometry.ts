import type { StackKey } from '../../../../records/layouts/stack-by.ts'

/** A card as it lies on the screen. */
interface CardBox {
  index: number
  top: number
  bottom: number
}

/** The place that a pointer means among cards: ahead of the first whose middle is below it, else behind the last. */
export function dropIndexAmong(cards: readonly CardBox[], y: number): number {
  for (const { index, top, bottom } of cards) if (y < (top + bottom) / 2) return index
  return (cards.at(-1)?.index ?? -1) + 1
}

/** A stack as it lies on the screen, `start` and `end` in the direction of reading. */
interface StackBox {
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

/** Cards drawn beyond the edge of what is in sight, in pixels. */
const AHEAD_PX = 400

/** Where each card of a stack lies: `tops[i]` for the i-th, and the end of the last behind them. */
export function cardTops(count: number, heightOf: (index: number) => number, gap: number): Float64Array {
  const tops = new Float64Array(count + 1)
  for (let index = 0; index < count; index++) tops[index + 1] = (tops[index] ?? 0) + heightOf(index) + gap
  return tops
}

/** The first card whose end lies below a place. */
export function cardAt(tops: Float64Array, offset: number): number {
  let low = 0
  let high = Math.max(0, tops.length - 2)
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tops[middle + 1] ?? 0) > offset) high = middle
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

/** A stack as the keyboard sees it. */
interface FocusStack {
  key: StackKey
  /** Cards that can be reached in it: none where it is collapsed. */
  count: number
}

/** Where the keyboard is: on a card of a stack, or on the head of one (-1). */
interface FocusIndex {
  key: StackKey
  index: number
}

export type FocusStep = 'up' | 'down' | 'before' | 'after' | 'first' | 'last'

/** The head of a stack. */
export const HEAD = -1

/**
 * The next place of the keyboard. Up from the first card goes to the head of its stack; to the side goes to the
 * card at the same height, or the last one of a shorter stack. The same place where there is no way on.
 */
export function stepFocus(stacks: readonly FocusStack[], from: FocusIndex, step: FocusStep): FocusIndex {
  const at = stacks.findIndex(({ key }) => key === from.key)
  const stack = stacks[at]
  if (!stack) return stacks[0] ? { key: stacks[0].key, index: stacks[0].count > 0 ? 0 : HEAD } : from
  const last = stack.count - 1
  switch (step) {
    case 'up':
      return { ...from, index: Math.max(HEAD, from.index - 1) }
    case 'down':
      return { ...from, index: Math.min(last, from.index + 1) }
    case 'first':
      return { ...from, index: stack.count > 0 ? 0 : HEAD }
    case 'last':
      return { ...from, index: last }
    default: {
      const next = stacks[at + (step === 'after' ? 1 : -1)]
      return next ? { key: next.key, index: Math.min(from.index, next.count - 1) } : from
    }
  }
}
