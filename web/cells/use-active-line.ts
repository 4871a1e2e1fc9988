import { useState } from 'react'

/** A line of a list, whatever it offers. */
export interface ListLine {
  /** Tells lines apart while others come and go. */
  key: string
}

/** Which line of a list is highlighted, while one types and the lines change. */
export interface ActiveLine<L extends ListLine> {
  /** Its place; -1: none. */
  at: number
  line: L | undefined
  /** The person has gone to it by the arrow keys: leaving the list then means it, as typing does. */
  isWalkedTo: boolean
  walk(by: number): void
  /** Highlights a line by its key; null: the first that fits what is typed, if anything is. */
  go(key: string | null): void
}

export interface ActiveLineOptions {
  text: string
  /** The line to begin at, e.g. what is chosen already. */
  start?: string | null | undefined
  /** The place of the line that a text means, where nobody has gone to another; the first by default. */
  meant?: number
}

/** Nothing is highlighted in a list just opened, save where it begins: Enter there closes it and chooses nothing. */
export function useActiveLine<L extends ListLine>(
  lines: readonly L[],
  { text, start = null, meant = 0 }: ActiveLineOptions,
): ActiveLine<L> {
  const [active, setActive] = useState({ key: start, isWalkedTo: false })
  const found = active.key === null ? -1 : lines.findIndex(({ key }) => key === active.key)
  const at = found >= 0 || text.trim() === '' ? found : Math.min(meant, lines.length - 1)
  return {
    at,
    line: lines[at],
    isWalkedTo: active.isWalkedTo,
    walk(by) {
      const next = lines[Math.max(0, Math.min(lines.length - 1, at + by))]
      setActive({ key: next?.key ?? null, isWalkedTo: true })
    },
    go: (key) => setActive({ key, isWalkedTo: false }),
  }
}
