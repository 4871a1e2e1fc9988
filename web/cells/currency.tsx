import { CircleDollarSign } from 'lucide-react'
import { currency } from '../../src/core/fields/currency.ts'
import { numberCell } from './number-cell.tsx'

/** An amount in the field's currency, written as the field's locale writes it. */
export const currencyCell = numberCell(
  currency,
  CircleDollarSign,
  ({ locale, code, precision }) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: code,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: precision,
      maximumFractionDigits: precision,
    }),
)
