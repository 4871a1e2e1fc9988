import { useEffect } from 'react'
import { type BaseTheme, DEFAULT_THEME, readTheme } from '../../../src/core/theme.ts'
import { textOn } from '../../cells/text-on.ts'
import { barColor, mixedColor, textColor } from './readable-color.ts'

/** The custom properties of web/tokens.css that a theme changes; default colours are left out. */
export function themeProperties({ primaryColor, accentColor }: BaseTheme): Record<string, string> {
  return {
    ...(primaryColor.toUpperCase() !== DEFAULT_THEME.primaryColor && primaryProperties(primaryColor)),
    ...(accentColor.toUpperCase() !== DEFAULT_THEME.accentColor && accentProperties(accentColor)),
  }
}

function primaryProperties(chosen: string): Record<string, string> {
  // Borders and focus rings use it on white: darken it until it is visible there.
  const strong = barColor(chosen) ?? chosen
  const color = textOn(chosen) !== '#ffffff' ? strong : chosen
  const ink = textOn(color)
  // Away from the text colour, to keep the contrast on hover.
  const away = ink === '#ffffff' ? '#000000' : '#ffffff'
  const soft2 = mixedColor(color, '#ffffff', 0.82) ?? color
  return {
    '--color-primary': color,
    '--color-primary-hover': mixedColor(color, away, 0.12) ?? color,
    '--color-primary-active': mixedColor(color, away, 0.22) ?? color,
    '--color-on-primary': ink,
    // `soft2` is the darkest background of this text.
    '--color-primary-text': textColor(color, soft2) ?? color,
    '--color-primary-soft': mixedColor(color, '#ffffff', 0.91) ?? color,
    '--color-primary-soft-2': soft2,
  }
}

function accentProperties(chosen: string): Record<string, string> {
  const color = barColor(chosen) ?? chosen
  return {
    '--color-accent': color,
    '--color-accent-text': textColor(color, mixedColor(color, '#ffffff', 0.82) ?? color) ?? color,
    '--color-accent-soft': mixedColor(color, '#ffffff', 0.92) ?? color,
  }
}

/** Applies the colours of a theme to the page. @returns a function that removes them */
export function applyTheme(theme: BaseTheme): () => void {
  const { style } = document.documentElement
  const properties = Object.entries(themeProperties(theme))
  for (const [name, value] of properties) style.setProperty(name, value)
  return () => {
    for (const [name] of properties) style.removeProperty(name)
  }
}

/** Applies the theme of a base while the component is mounted (spec §1). */
export function useBaseTheme(meta: { theme?: unknown } | undefined): void {
  const { primaryColor, accentColor } = readTheme(meta ?? {})
  useEffect(() => applyTheme({ primaryColor, accentColor }), [primaryColor, accentColor])
}
