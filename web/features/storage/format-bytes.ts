import { localeTag } from '../../i18n.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** Localized size in decimal units, e.g. `1.5 MB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const options = {
    style: 'unit',
    unit: UNITS[step],
    // The short form has no plural of "byte".
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  } as const
  return new Intl.NumberFormat(localeTag(), options).format(bytes / 1000 ** step)
}
