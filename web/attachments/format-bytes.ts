import { localeTag } from '../i18n.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** The size of a file in the user's language, in units of 1024: `4.2 MB`, `12 MB`. */
export const formatFileSize = (bytes: number): string =>
  inUnits(bytes, 1024, (value, step) => (value < 10 && step > 0 ? 1 : 0))

/** An amount of storage in the user's language, in decimal units: `1.5 MB`. */
export const formatBytes = (bytes: number): string => inUnits(bytes, 1000, () => 1)

function inUnits(
  bytes: number,
  factor: 1000 | 1024,
  digits: (value: number, step: number) => number,
): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(factor)))
  const value = bytes / factor ** step
  const style = {
    style: 'unit',
    unit: UNITS[step] ?? 'byte',
    // The short form has no plural of "byte".
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: digits(value, step),
  } as const
  return new Intl.NumberFormat(localeTag(), style).format(value)
}
