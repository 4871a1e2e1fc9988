import { Star } from 'lucide-react'
import type { MouseEvent } from 'react'
import { type RATING_ICONS, rating } from '../../src/core/fields/rating.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** Characters instead of SVG icons, which would take ten times as long to render. */
const SIGNS: Record<(typeof RATING_ICONS)[number], { full: string; empty: string }> = {
  star: { full: '★', empty: '☆' },
  heart: { full: '♥', empty: '♡' },
  circle: { full: '●', empty: '○' },
  thumb: { full: '👍', empty: '·' },
  flag: { full: '⚑', empty: '⚐' },
}

/** Stars, set by click or digit; the same number again clears them. Empty stars show on hover. */
export const ratingCell = defineCell(rating, {
  Icon: Star,
  isShape: true,
  align: 'start',
  minWidth: 60,
  extraWidth: 90,
  // Prevents accidental changes by a single click.
  selectsFirst: true,
  View({ value, options, commit, variant }) {
    const stars = typeof value === 'number' ? Math.min(value, options.max) : 0
    const { full, empty } = SIGNS[options.icon]
    const label = m.cells_stars_of_max({ stars, max: options.max })
    if (variant === 'record' && commit) {
      return (
        <span className={styles.stars} style={{ color: options.color }} data-variant="record">
          {Array.from({ length: options.max }, (_, at) => at + 1).map((star) => (
            <button
              key={star}
              type="button"
              aria-label={m.cells_stars_of_max({ stars: star, max: options.max })}
              aria-pressed={star <= stars}
              onClick={() => commit(star === stars ? 0 : star)}
            >
              {star <= stars ? full : empty}
            </button>
          ))}
        </span>
      )
    }
    const click = (event: MouseEvent<HTMLElement>) => {
      const chosen = starAt(event, options.max)
      commit?.(chosen === stars ? 0 : chosen)
    }
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: digits on the cell do the same (onKey)
      <span
        role="img"
        aria-label={label}
        className={styles.stars}
        style={{ color: options.color }}
        data-empty={commit ? empty.repeat(options.max - stars) : ''}
        data-interactive={commit ? true : undefined}
        onClick={commit && click}
      >
        {full.repeat(stars)}
      </span>
    )
  },
  // Digits rate without opening an editor, so a whole column can be filled from the keyboard.
  onKey({ key, ctrl, alt }, { options, commit }) {
    const stars = /^\d$/.test(key) && !ctrl && !alt ? rating.parse(key, options) : null
    if (stars === null) return false
    commit(stars)
    return true
  },
})

/** The star under the pointer; all stars share the element's width equally. */
function starAt(event: MouseEvent<HTMLElement>, max: number): number {
  const { left, right, width } = event.currentTarget.getBoundingClientRect()
  const isRtl = getComputedStyle(event.currentTarget).direction === 'rtl'
  const along = isRtl ? right - event.clientX : event.clientX - left
  return Math.max(1, Math.min(max, Math.ceil((along / width) * max)))
}
