import { Diff } from 'lucide-react'
import { decimal } from '../../src/core/fields/number.ts'
import { numberCell } from './number-cell.tsx'

/** A number with as many decimals as the field shows; the editor has them all. */
export const decimalCell = numberCell(
  decimal,
  Diff,
  ({ precision, thousands }, locale) =>
    new Intl.NumberFormat(locale, {
      useGrouping: thousands,
      ...(precision === null
        ? AS_IT_IS
        : { minimumFractionDigits: precision, maximumFractionDigits: precision }),
    }),
)

/** All digits of the value, but not what binary fractions add: 0.1 + 0.2 is 0.3. */
const AS_IT_IS = {
  maximumSignificantDigits: 15,
  maximumFractionDigits: 0,
  roundingPriority: 'morePrecision',
} as const
