import type { Base } from '../../../src/core/model.ts'
import styles from './base-icon.module.css'

/** Colours of base icons, with a contrast of 4.5:1 to white. The first one is the default. */
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

/** Icon of a base: its colour and the first letter of its title. */
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

/** The API accepts any text as the colour: only `#rrggbb` may reach the style. */
const isColor = (text: string | undefined): text is string =>
  text !== undefined && /^#[0-9a-f]{6}$/i.test(text)

/** Whether white letters would have a contrast below 3:1 (WCAG relative luminance). */
function needsDarkLetter(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) < 3
}

/** First grapheme, e.g. an emoji of several code points. */
function firstGrapheme(title: string): string {
  for (const { segment } of new Intl.Segmenter().segment(title.trim())) return segment.toLocaleUpperCase()
  return '·'
}
