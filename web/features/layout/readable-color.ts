/** Red, green and blue from 0 to 1. */
type Rgb = [number, number, number]

/** The faintest text that stands on a coloured ground: `--color-text-muted`. */
const FAINTEST_TEXT: Rgb = [0x58 / 255, 0x61 / 255, 0x74 / 255]
const WHITE: Rgb = [1, 1, 1]

/** WCAG 2.2, 1.4.3 and 1.4.11: text, and pictures that mean something. */
const TEXT_RATIO = 4.5
const PICTURE_RATIO = 3

/**
 * The colour as the ground of a row: so light that every text on it can be read, and that an option's pill of the
 * same colour stands out. Null: no `#rrggbb`.
 */
export function groundColor(hex: string): string | null {
  const color = parse(hex)
  return (
    color &&
    format(
      soonest(lighter(color, PILL_STANDS_OUT), lighter, (one) => contrast(one, FAINTEST_TEXT) >= TEXT_RATIO),
    )
  )
}

/** The colour as a bar on white: so strong that it is seen. Null: no `#rrggbb`. */
export function barColor(hex: string): string | null {
  const color = parse(hex)
  return color && format(soonest(color, stronger, (one) => contrast(one, WHITE) >= PICTURE_RATIO))
}

/** The colour as text on a ground, as little darker as it takes to be read there. Null: no `#rrggbb`. */
export function textColor(hex: string, ground: string): string | null {
  const [color, below] = [parse(hex), parse(ground)]
  return color && below && format(soonest(color, stronger, (one) => contrast(one, below) >= TEXT_RATIO))
}

/** The colour with so much of another in it, from 0 to 1. Null: no `#rrggbb`. */
export function mixedColor(hex: string, other: string, part: number): string | null {
  const [color, added] = [parse(hex), parse(other)]
  if (!color || !added) return null
  const at = (index: 0 | 1 | 2) => color[index] * (1 - part) + added[index] * part
  return format([at(0), at(1), at(2)])
}

const STEPS = 40
/** How much white there is in the ground beside the colour itself. */
const PILL_STANDS_OUT = 0.4

/** The first of the shades from none to all that will do. */
function soonest(
  color: Rgb,
  shade: (color: Rgb, part: number) => Rgb,
  isEnough: (color: Rgb) => boolean,
): Rgb {
  for (let step = 0; step < STEPS; step++) {
    // As it will be written: two digits each.
    const shaded = each(shade(color, step / STEPS), (part) => Math.round(part * 255) / 255)
    if (isEnough(shaded)) return shaded
  }
  return shade(color, 1)
}

const each = ([red, green, blue]: Rgb, change: (part: number) => number): Rgb => [
  change(red),
  change(green),
  change(blue),
]

const lighter = (color: Rgb, part: number): Rgb => each(color, (one) => one + (1 - one) * part)

/** Down to nothing in the same proportion, which keeps the hue and makes a pastel strong. */
function stronger(color: Rgb, part: number): Rgb {
  const lightest = Math.max(...color)
  // What is white in a pastel goes first.
  return each(color, (one) => Math.max(0, one - part * (0.6 + (lightest - one))))
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

/** WCAG's relative luminance. */
function luminance(color: Rgb): number {
  const [red, green, blue] = each(color, (part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}
