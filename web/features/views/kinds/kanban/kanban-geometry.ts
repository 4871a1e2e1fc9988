import type { StackKey } from '../../../../records/layouts/stack-by.ts'

/** Screen position of a card. */
interface CardBox {
  index: number
  top: number
  bottom: number
}

/** The drop index of a pointer among cards: before the first whose middle is below it, else after the last. */
export function dropIndexAmong(cards: readonly CardBox[], y: number): number {
  for (const { index, top, bottom } of cards) if (y < (top + bottom) / 2) return index
  return (cards.at(-1)?.index ?? -1) + 1
}

/** Screen position of a stack, `start` and `end` in reading direction. */
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

/** Overscan in pixels. */
const AHEAD_PX = 400

/** Tops of a stack's cards, followed by the end of the last one. */
export function cardTops(count: number, heightOf: (index: number) => number, gap: number): Float64Array {
  const tops = new Float64Array(count + 1)
  for (let index = 0; index < count; index++) tops[index + 1] = (tops[index] ?? 0) + heightOf(index) + gap
  return tops
}

/** The first card that ends below an offset. */
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

/** A stack for keyboard navigation. */
interface FocusStack {
  key: StackKey
  /** Number of reachable cards; 0 if collapsed. */
  count: number
}

/** Keyboard focus: a card of a stack, or its header (-1). */
interface FocusIndex {
  key: StackKey
  index: number
}

export type FocusStep = 'up' | 'down' | 'before' | 'after' | 'first' | 'last'

/** Index of a stack's header. */
export const HEAD = -1

/**
 * The next focus position. Up from the first card goes to the stack's header; sideways goes to the card with the same
 * index, or the last one of a shorter stack. Unchanged at the edges.
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
