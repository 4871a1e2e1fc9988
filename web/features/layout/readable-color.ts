/** Red, green and blue from 0 to 1. */
type Rgb = [number, number, number]

/** `--color-text-muted`, the faintest text on a coloured background. */
const FAINTEST_TEXT: Rgb = [0x58 / 255, 0x61 / 255, 0x74 / 255]
const WHITE: Rgb = [1, 1, 1]

/** Minimum contrast of text and of meaningful graphics (WCAG 2.2, 1.4.3 and 1.4.11). */
const TEXT_RATIO = 4.5
const PICTURE_RATIO = 3

/**
 * Lightens a colour to a row background on which every text is readable and a pill of the same colour stands out;
 * null if it is not `#rrggbb`.
 */
export function groundColor(hex: string): string | null {
  const color = parse(hex)
  return (
    color &&
    format(
      weakestShade(lighter(color, MIN_WHITE), lighter, (one) => contrast(one, FAINTEST_TEXT) >= TEXT_RATIO),
    )
  )
}

/** Darkens a colour until it is visible as a bar on white; null if it is not `#rrggbb`. */
export function barColor(hex: string): string | null {
  const color = parse(hex)
  return color && format(weakestShade(color, stronger, (one) => contrast(one, WHITE) >= PICTURE_RATIO))
}

/** Darkens a colour as little as needed to be readable on a background; null if either is not `#rrggbb`. */
export function textColor(hex: string, ground: string): string | null {
  const [color, below] = [parse(hex), parse(ground)]
  return color && below && format(weakestShade(color, stronger, (one) => contrast(one, below) >= TEXT_RATIO))
}

/** Mixes a share (0 to 1) of another colour in; null if either is not `#rrggbb`. */
export function mixedColor(hex: string, other: string, part: number): string | null {
  const [color, added] = [parse(hex), parse(other)]
  if (!color || !added) return null
  const at = (index: 0 | 1 | 2) => color[index] * (1 - part) + added[index] * part
  return format([at(0), at(1), at(2)])
}

const STEPS = 40
/** Share of white in a row's background, so that pills of the same colour stand out. */
const MIN_WHITE = 0.4

/** The weakest shade of a colour that is sufficient. */
function weakestShade(
  color: Rgb,
  shade: (color: Rgb, part: number) => Rgb,
  isEnough: (color: Rgb) => boolean,
): Rgb {
  for (let step = 0; step < STEPS; step++) {
    // Rounded as in `#rrggbb`.
    const shaded = mapRgb(shade(color, step / STEPS), (part) => Math.round(part * 255) / 255)
    if (isEnough(shaded)) return shaded
  }
  return shade(color, 1)
}

const mapRgb = ([red, green, blue]: Rgb, change: (part: number) => number): Rgb => [
  change(red),
  change(green),
  change(blue),
]

const lighter = (color: Rgb, part: number): Rgb => mapRgb(color, (one) => one + (1 - one) * part)

/** Darkens a colour in proportion, which keeps the hue. */
function stronger(color: Rgb, part: number): Rgb {
  const lightest = Math.max(...color)
  // A pastel loses its white first.
  return mapRgb(color, (one) => Math.max(0, one - part * (0.6 + (lightest - one))))
}

function parse(hex: string): Rgb | null {
  const digits = /^#([0-9a-f]{6})$/i.exec(hex)?.[1]
  if (!digits) return null
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16) / 255
  return [part(0), part(2), part(4)]
}

const format = (color: Rgb): string =>
  `#${color
    .map((part) =>
      Math.round(part * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`

/** WCAG relative luminance. */
function luminance(color: Rgb): number {
  const [red, green, blue] = mapRgb(color, (part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}
