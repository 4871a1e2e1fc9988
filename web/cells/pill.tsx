import type { ReactNode } from 'react'
import type { Choice } from '../../src/core/fields/choices.ts'
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

/** A text colour with sufficient contrast on a background (4.5:1, WCAG relative luminance); black for named colours. */
export function textOn(color: string | undefined): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1]
  if (!hex) return 'var(--color-text, #1d2433)'
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  // White has a contrast of 4.5:1 up to this luminance, the text colour from 0.252 on; in between only black has.
  if (luminance <= 0.1833) return '#ffffff'
  return luminance < 0.252 ? '#000000' : '#1d2433'
}

/** Widths in pixels: a pill besides its text, with the gap after it, and the "+n". */
const PILL_PX = 21
const MORE_PX = 30

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
 * Number of pills that fit, estimated from title lengths: measuring would force a second layout.
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
