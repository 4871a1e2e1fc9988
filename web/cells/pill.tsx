import type { ReactNode } from 'react'
import type { Choice } from '../../src/core/fields/choices.ts'
import styles from './view.module.css'

/** A select option: its title on its colour. One without a choice is a title that the field no longer has. */
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

/** The option of a title; a list of 5,000 is searched through once. */
export function choiceOf(choices: Choice[], title: string): Choice | undefined {
  let index = byTitle.get(choices)
  if (!index) {
    index = new Map(choices.map((choice) => [choice.title, choice]))
    byTitle.set(choices, index)
  }
  return index.get(title)
}

/** Dark or white, whichever can be read on a colour (4.5:1, WCAG relative luminance); colours by name get black. */
export function textOn(color: string | undefined): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1]
  if (!hex) return 'var(--color-text, #1d2433)'
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  // White stands at 4.5:1 up to here, the colour of texts from 0.252 on; in between only black does.
  if (luminance <= 0.1833) return '#ffffff'
  return luminance < 0.252 ? '#000000' : '#1d2433'
}
