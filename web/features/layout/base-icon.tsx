import type { Base } from '../../../src/core/model.ts'
import styles from './base-icon.module.css'

/** Colours of base icons: each carries white text at 4.5:1. The first is what a new base gets. */
export const BASE_COLORS = [
  '#3366ff',
  '#7c3aed',
  '#be1d6e',
  '#c8382c',
  '#b4540a',
  '#80660a',
  '#3f7d20',
  '#157a5a',
  '#0e7490',
  '#475569',
] as const

/** The square of a base: its colour and the first letter of its title. */
export function BaseIcon({ base, size = 32 }: { base: Pick<Base, 'title' | 'meta'>; size?: number }) {
  const color = isColor(base.meta.iconColor) ? base.meta.iconColor : BASE_COLORS[0]
  return (
    <span
      aria-hidden
      data-letter={base.meta.icon || firstGrapheme(base.title)}
      className={styles.icon}
      style={{
        inlineSize: size,
        blockSize: size,
        fontSize: size * 0.46,
        borderRadius: size * 0.28,
        background: color,
        color: needsDarkLetter(color) ? 'var(--color-text)' : undefined,
      }}
    />
  )
}

/** Other programs write the colour too: only a plain hex value reaches the style. */
const isColor = (text: string | undefined): text is string =>
  text !== undefined && /^#[0-9a-f]{6}$/i.test(text)

/** True where white letters would stand out less than 3:1 (WCAG's relative luminance). */
function needsDarkLetter(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) < 3
}

/** The first character as people see it: an emoji of several code points is one. */
function firstGrapheme(title: string): string {
  for (const { segment } of new Intl.Segmenter().segment(title.trim())) return segment.toLocaleUpperCase()
  return '·'
}
