import { SquareFunction } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { formula, readFormulaLink } from '../../src/core/fields/formula.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { openDialog } from '../ui/open-dialog.tsx'
import { defineCell, type ViewProps } from './cell.ts'
import { ComputedView } from './computed-cell.tsx'
import { LinkText } from './link-cell.tsx'
import { urlHref } from './links.ts'
import styles from './view.module.css'

// The language of formulas is larger than all cells together: only who looks into one loads it.
const ExplainFormula = lazyPart(() => import('./explain-formula.tsx'), 'ExplainFormula')

/** What a formula gives, drawn as its result; double click and Enter say how it comes about. */
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
