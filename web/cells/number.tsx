import { Hash } from 'lucide-react'
import { number } from '../../src/core/fields/number.ts'
import { numberCell } from './number-cell.tsx'

/** A whole number. */
export const numberTypeCell = numberCell(
  number,
  Hash,
  ({ thousands }, locale) =>
    new Intl.NumberFormat(locale, { useGrouping: thousands, maximumFractionDigits: 0 }),
)
