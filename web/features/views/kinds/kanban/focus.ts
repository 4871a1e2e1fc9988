import type { StackKey } from './stack-by.ts'

/** A stack as the keyboard sees it. */
export interface FocusStack {
  key: StackKey
  /** Cards that can be reached in it: none where it is collapsed. */
  count: number
}

/** Where the keyboard is: on a card of a stack, or on the head of one (-1). */
export interface FocusPlace {
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
export function stepFocus(stacks: readonly FocusStack[], from: FocusPlace, step: FocusStep): FocusPlace {
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
