import { ChevronDown } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { summarySetOf } from '../../../src/core/fields/result.ts'
import { t, tn } from '../../i18n.ts'
import type { ResolvedColumn } from '../columns.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
import type { GridProps } from '../props.ts'
import { useStore } from '../store.ts'
import styles from './footer.module.css'

interface FooterProps {
  props: GridProps
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
}

/** The number of records, and under each column its summary. */
export function Footer({ props, columns, layout }: FooterProps): ReactNode {
  const engine = useEngine()
  const { columns: shown } = useStore(engine.viewport.mounted)
  const { rowCount } = props.source
  const cells = (first: number, last: number) =>
    columns
      .slice(first, last + 1)
      .map((column, at) => (
        <SummaryCell
          key={column.fieldId}
          column={column}
          start={layout.starts[first + at]!}
          width={layout.starts[first + at + 1]! - layout.starts[first + at]!}
          canArrange={props.rights.arrangeColumns}
        />
      ))
  return (
    <div className={styles.footer} role="presentation">
      <div className={styles.frozen} style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}>
        <RecordCount count={rowCount} />
        {cells(0, layout.frozen - 1)}
      </div>
      {cells(shown.first, shown.last)}
    </div>
  )
}

// Apart, so that plural rules are not asked again for every row that scrolls in.
const RecordCount = memo(function RecordCount({ count }: { count: number | null }) {
  return (
    <span className={styles.recordCount} data-testid="record-count">
      {count === null ? '' : tn('1 record', '{n} records', count)}
    </span>
  )
})

interface SummaryCellProps {
  column: ResolvedColumn
  start: number
  width: number
  canArrange: boolean
}

function SummaryCell({ column, start, width, canArrange }: SummaryCellProps): ReactNode {
  const engine = useEngine()
  const { summary } = column.column
  const place = { insetInlineStart: start, inlineSize: width }
  const text = summary && (
    <>
      <span className={styles.summaryLabel}>{summary.label}</span>
      <span className={styles.summaryValue}>{summary.value}</span>
    </>
  )
  // For what is cut off.
  const title = summary ? `${summary.label} ${summary.value}` : undefined
  if (!canArrange || summarySetOf(column.field) === 'none') {
    return (
      <div className={styles.summary} style={place} title={title}>
        {text}
      </div>
    )
  }
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.summary}
      style={place}
      data-part="summary"
      data-testid="summary"
      data-field={column.fieldId}
      title={title}
      aria-label={t('Summary of {field}: {value}', {
        field: column.field.title,
        value: summary ? `${summary.label} ${summary.value}` : t('none'),
      })}
      onClick={(event) =>
        engine.props.commands.openSummaryMenu(column.fieldId, { element: event.currentTarget })
      }
    >
      {text ?? (
        <span className={styles.summaryHint}>
          {t('Summary')}
          <ChevronDown size={12} aria-hidden />
        </span>
      )}
    </button>
  )
}
