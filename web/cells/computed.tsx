import { type LucideIcon, Sigma, SquareFunction, Tally5, Telescope } from 'lucide-react'
import type { ReactNode } from 'react'
import { count } from '../../src/core/fields/count.ts'
import { type CellValue, completeOptions, type FieldType } from '../../src/core/fields/field-type.ts'
import { formula, readFormulaLink } from '../../src/core/fields/formula.ts'
import { lookup } from '../../src/core/fields/lookup.ts'
import { rollup } from '../../src/core/fields/rollup.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { keyed } from '../ui/keyed.ts'
import { lazyDialog } from '../ui/lazy-dialog.ts'
import { openDialog } from '../ui/open-dialog.tsx'
import { LinkText, urlHref } from './address.tsx'
import { type Cell, cellOf, defineCell, type ViewProps } from './cell.ts'
import { cellText } from './cell-text.ts'
import { HiddenCount } from './hidden-count.tsx'
import { isEmptyList, listIn } from './link-value.ts'
import { countFitting } from './pill.tsx'
import { BrokenField } from './text-view.tsx'
import styles from './view.module.css'

const ListDialog = lazyDialog(() => import('./list-dialog.tsx'), 'ListDialog')

/** Maximum number of list values drawn in a cell. */
const MAX_DRAWN = 30

/** Cell of a computed field: drawn by its result type, lists as several values. */
const computedCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    align: 'start',
    minWidth: 60,
    extraWidth: 24,
    View: ComputedView,
    open(value, field) {
      if (!field.result?.isList || isEmptyList(value)) return false
      openDialog((close) => <ListDialog field={field} value={value} onClose={close} />)
      return true
    },
    copyText: (value, people, field) => cellText(field, value, people),
  })

/** A computed value, drawn by the cell of its result type. */
export function ComputedView<O>(props: ViewProps<O>): ReactNode {
  const { value, field } = props
  const { result } = field
  if (field.error !== null) return <BrokenField error={field.error} />
  if (!result || value === null) return null
  if (result.isList) return <ListView {...props} />
  return drawOne(props, value)
}

/** One value, drawn by the cell of the result type. */
function drawOne<O>({ field, variant, lines, width }: ViewProps<O>, value: CellValue): ReactNode {
  const { result } = field
  if (!result) return null
  const { View, type } = cellOf(result.type)
  const options = completeOptions(type, result.options)
  return <View value={value} field={field} options={options} variant={variant} lines={lines} width={width} />
}

function ListView<O>(props: ViewProps<O>): ReactNode {
  const { value, field, variant, lines, width } = props
  const { result } = field
  const values = listIn(value).filter((one) => one !== null && one !== '')
  if (values.length === 0 || !result) return null
  const { type, isShape } = cellOf(result.type)
  const options = completeOptions(type, result.options)
  const texts = values.slice(0, MAX_DRAWN).map((one) => type.format(one, options))
  // A chip is slightly wider than its text.
  const fitting =
    width === null ? values.length : countFitting(texts, width, lines, { mayShrink: lines === 1 })
  const drawn = Math.min(fitting, values.length, variant === 'grid' ? MAX_DRAWN : values.length)
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined} data-shrink>
      {keyed(values.slice(0, drawn)).map(({ key, item: one }) => (
        <span key={key} className={isShape ? styles.apart : styles.listed}>
          {drawOne({ ...props, lines: 1, width: null }, one)}
        </span>
      ))}
      {drawn < values.length && (
        <HiddenCount
          count={values.length - drawn}
          title={values
            .slice(drawn, drawn + MAX_DRAWN)
            .map((one) => type.format(one, options))
            .join('\n')}
        />
      )}
    </span>
  )
}

/** Number of linked records. */
export const countCell = computedCell(count, Tally5)

/** Values of a field of the linked records. */
export const lookupCell = computedCell(lookup, Telescope)

/** An aggregate over a field of the linked records. */
export const rollupCell = computedCell(rollup, Sigma)

// The formula language is larger than all cells together, so it loads with the first explanation.
const ExplainFormula = lazyPart(() => import('./explain-formula.tsx'), 'ExplainFormula')

/** A formula's result, drawn as its type; double click and Enter explain it. */
export const formulaCell = defineCell(formula, {
  Icon: SquareFunction,
  align: 'start',
  minWidth: 60,
  extraWidth: 24,
  href: (value) => {
    const link = linkIn(value)
    return link === null ? null : urlHref(link)
  },
  View: FormulaView,
  open(value, field, recordId) {
    openDialog((close) => <ExplainFormula field={field} value={value} recordId={recordId} onClose={close} />)
    return true
  },
  copyText: (value) => linkIn(value) ?? String(value ?? ''),
})

const linkIn = (value: CellValue): string | null =>
  typeof value === 'string' ? readFormulaLink(value) : null

function FormulaView<O>(props: ViewProps<O>): ReactNode {
  const { value, field, variant } = props
  if (field.error !== null) {
    return (
      <span className={styles.broken} data-variant={variant} title={field.error} dir="auto">
        {field.error}
      </span>
    )
  }
  const link = linkIn(value)
  if (link !== null) return <LinkText value={link} address={urlHref(link)} />
  return <ComputedView {...props} />
}
