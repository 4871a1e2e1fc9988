import type { ReactNode } from 'react'
import type { Choice } from '../../src/core/fields/choices.ts'
import { countInRows } from './count-in-rows.ts'
import { textOn } from './text-on.ts'
import styles from './view.module.css'

/** A select option as a coloured pill. `choice` is undefined for titles that the field no longer has. */
export function Pill({ title, choice, onRemove, removeLabel }: PillProps): ReactNode {
  const background = choice?.color ?? 'var(--color-surface-2, #eef0f4)'
  return (
    <span className={styles.pill} style={{ background, color: textOn(choice?.color) }} data-pill={title}>
      <span className={styles.pillText} dir="auto">
        {title}
      </span>
      {onRemove && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={removeLabel}
          className={styles.pillRemove}
          onClick={onRemove}
        >
          ×
        </button>
      )}
    </span>
  )
}

interface PillProps {
  title: string
  choice: Choice | undefined
  onRemove?: () => void
  removeLabel?: string
}

const byTitle = new WeakMap<Choice[], Map<string, Choice>>()

/** The option with a title, by an index that is built once per list. */
export function choiceOf(choices: Choice[], title: string): Choice | undefined {
  let index = byTitle.get(choices)
  if (!index) {
    index = new Map(choices.map((choice) => [choice.title, choice]))
    byTitle.set(choices, index)
  }
  return index.get(title)
}

/** Width of a pill besides its text in pixels, with the gap after it. */
const PILL_PX = 21

/** Approximate letter widths in a pill, rounded up. */
const NARROW = /[\s.,:;'|!ijltfrI()[\]-]/
const WIDE = /[A-Z@%&mwÀ-Þ]/
const IDEOGRAPH = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|\p{Extended_Pictographic}/u
const measure = (letter: string): number =>
  NARROW.test(letter) ? 4 : WIDE.test(letter) ? 8.5 : IDEOGRAPH.test(letter) ? 13 : 7

/** Cached letter widths. */
const known = new Map<string, number>()

function letterPx(letter: string): number {
  const before = known.get(letter)
  if (before !== undefined) return before
  const width = measure(letter)
  known.set(letter, width)
  return width
}

/** Heights of a text line and of a pill with its gap. */
const LINE_PX = 18
const PILL_ROW_PX = 24

/** Minimum width of a truncated pill. */
const LEAST_PX = 48

/** The width of a text; stops counting at `most`, because wider text is truncated anyway. */
function textPx(text: string, most: number): number {
  let width = 0
  for (const letter of text) {
    width += letterPx(letter)
    if (width > most) return width
  }
  return width
}

/**
 * Number of pills that fit, estimated from title lengths.
 * @param lines text lines that fit; pills are higher
 * @param mayShrink true if the last pill may be truncated
 */
export function countFitting(
  titles: readonly string[],
  width: number,
  lines: number,
  { mayShrink = false } = {},
): number {
  // A cell is slightly higher than its lines of text, which leaves room for the last gap.
  const rows = Math.max(1, Math.floor((lines * LINE_PX + 10) / PILL_ROW_PX))
  const pxOf = (title: string): number => textPx(title, width) + PILL_PX
  return countInRows(titles, { width, rows, pxOf, leastPx: mayShrink ? LEAST_PX : undefined })
}
