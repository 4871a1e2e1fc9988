import { CircleDollarSign, Diff, Hash, type LucideIcon, Percent } from 'lucide-react'
import type { ReactNode } from 'react'
import { currency } from '../../src/core/fields/currency.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { ALL_DIGITS, decimal, number, percent } from '../../src/core/fields/number.ts'
import { currentLanguage, localeTag } from '../i18n.ts'
import { type Cell, defineCell, lazyEditor, type ViewProps } from './cell.ts'
import styles from './view.module.css'

const NumberEditor = lazyEditor(() => import('./number-editor.tsx'), 'NumberEditor')

/** Shared by number types: aligned to the end, full precision in the editor, formatted in the view. */
function numberCell<O extends object>(
  type: FieldType<O>,
  Icon: LucideIcon,
  makeFormat: (options: O, locale: string) => Intl.NumberFormat,
  draw: (text: string, props: ViewProps<O>) => ReactNode = (text) => (
    <span className={styles.number} dir="ltr">
      {text}
    </span>
  ),
): Cell<O> {
  const text = (value: CellValue, options: O): string | undefined => {
    if (value === null || typeof value === 'boolean') return undefined
    // Text is a number of a connected database with more digits than a double holds, or a non-number in a
    // numeric column of SQLite.
    if (Number.isNaN(Number(value))) return String(value)
    return numberFormat(options, (locale) => makeFormat(options, locale)).format(
      value as number | `${number}`,
    )
  }
  return defineCell<O>(type, {
    Icon,
    align: 'end',
    minWidth: 60,
    extraWidth: 24,
    shownText: text,
    View(props) {
      const shown = text(props.value, props.options)
      return shown === undefined ? null : draw(shown, props)
    },
    Editor: (props) => <NumberEditor {...props} type={type} shown={text(props.value, props.options)} />,
  })
}

const formats = new WeakMap<object, { language: string; format: Intl.NumberFormat }>()

/** The number format for a field's options, cached because creating one takes longer than drawing a row. */
function numberFormat(options: object, make: (locale: string) => Intl.NumberFormat): Intl.NumberFormat {
  const known = formats.get(options)
  const language = currentLanguage()
  if (known?.language === language) return known.format
  const format = make(localeTag())
  formats.set(options, { language, format })
  return format
}

export const numberTypeCell = numberCell(
  number,
  Hash,
  ({ thousands }, locale) =>
    new Intl.NumberFormat(locale, { useGrouping: thousands, maximumFractionDigits: 0 }),
)

/** A number with the field's decimals; the editor shows all of them. */
export const decimalCell = numberCell(
  decimal,
  Diff,
  ({ precision, thousands }, locale) =>
    new Intl.NumberFormat(locale, {
      useGrouping: thousands,
      ...(precision === null
        ? ALL_DIGITS
        : { minimumFractionDigits: precision, maximumFractionDigits: precision }),
    }),
)

/** An amount in the field's currency, formatted for the field's locale. */
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

/** A percentage, optionally with a bar. */
export const percentCell = numberCell(
  percent,
  Percent,
  // "unit: percent" formats 42 as 42%; "style: percent" would need 0.42, which causes rounding errors.
  ({ precision }, locale) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent', maximumFractionDigits: precision }),
  (text, { value, options }) => {
    if (!options.bar) return <span className={styles.number}>{text}</span>
    const filled = Math.max(0, Math.min(100, Number(value) || 0))
    return (
      <span className={styles.percent}>
        <span className={styles.percentBar}>
          <span style={{ inlineSize: `${filled}%` }} />
        </span>
        <span className={styles.percentText}>{text}</span>
      </span>
    )
  },
)
