/** The colours of a base's pages: each `#RRGGBB` in capitals, without alpha (spec §1). */
export interface BaseTheme {
  /** For buttons, links and selections. */
  primaryColor: string
  /** For highlights. */
  accentColor: string
}

/** The default theme (spec §1). */
export const DEFAULT_THEME: Readonly<BaseTheme> = { primaryColor: '#3366FF', accentColor: '#EC4899' }

/** The theme in a base's `meta`; each invalid colour falls back to its default. */
export function readTheme(meta: { theme?: unknown }): BaseTheme {
  const { primaryColor, accentColor } = (meta.theme ?? {}) as {
    primaryColor?: unknown
    accentColor?: unknown
  }
  return {
    primaryColor: readColor(primaryColor) ?? DEFAULT_THEME.primaryColor,
    accentColor: readColor(accentColor) ?? DEFAULT_THEME.accentColor,
  }
}

/** True for the default theme. */
export const isDefaultTheme = ({ primaryColor, accentColor }: BaseTheme): boolean =>
  primaryColor === DEFAULT_THEME.primaryColor && accentColor === DEFAULT_THEME.accentColor

/** Normalizes `#36f`, `#3366ff` and `#3366ff80` to `#3366FF`; null if it is not a hex colour. */
function readColor(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const digits = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(text.trim())?.[1]
  if (!digits) return null
  const long = digits.length < 6 ? [...digits].map((digit) => digit + digit).join('') : digits
  return `#${long.slice(0, 6).toUpperCase()}`
}
