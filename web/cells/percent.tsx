import { Percent } from 'lucide-react'
import { percent } from '../../src/core/fields/number.ts'
import { numberCell } from './number-cell.tsx'
import { numberFormat } from './number-text.ts'
import styles from './view.module.css'

// "unit: percent" writes 42 as 42%, where "style: percent" would want 0.42 and bring rounding errors.
const makeFormat = ({ precision }: { precision: number }, locale: string) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent', maximumFractionDigits: precision })

/** A share: `42%`, or a bar beside it. */
export const percentCell = numberCell(percent, Percent, makeFormat, ({ value, options }) => {
  if (typeof value !== 'number') return null
  const text = numberFormat(options, (locale) => makeFormat(options, locale)).format(value)
  if (!options.bar) return <span className={styles.number}>{text}</span>
  const filled = Math.max(0, Math.min(100, value))
  return (
    <span className={styles.percent}>
      <span className={styles.percentBar}>
        <span style={{ inlineSize: `${filled}%` }} />
      </span>
      <span className={styles.percentText}>{text}</span>
    </span>
  )
})
