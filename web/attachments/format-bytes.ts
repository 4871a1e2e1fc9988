import { localeTag } from '../i18n.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A formatted size in the user's language: `4.2 MB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const value = bytes / 1024 ** step
  const style = {
    style: 'unit',
    unit: UNITS[step] ?? 'byte',
    // The short form has no plural of "byte".
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: value < 10 && step > 0 ? 1 : 0,
  } as const
  return new Intl.NumberFormat(localeTag(), style).format(value)
}
