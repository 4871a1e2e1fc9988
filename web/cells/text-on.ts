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
