import { Diff } from 'lucide-react'
import { decimal } from '../../src/core/fields/decimal.ts'
import { numberCell } from './number-cell.tsx'

/** A number with as many decimals as the field shows; the editor has them all. */
export const decimalCell = numberCell(
  decimal,
  Diff,
  ({ precision, thousands }, locale) =>
    new Intl.NumberFormat(locale, {
      useGrouping: thousands,
      minimumFractionDigits: precision,
      maximumFractionDigits: precision,
    }),
)
