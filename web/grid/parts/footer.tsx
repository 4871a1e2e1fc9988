import { ChevronDown } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { summarySetOf } from '../../../src/core/fields/field.ts'
import { m } from '../../messages.gen.ts'
import { GridBox, GridText } from '../../ui/composite.tsx'
import type { ResolvedColumn } from '../columns.ts'
import type { GridProps } from '../contract.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
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
          index={first + at}
          start={layout.starts[first + at]!}
          width={layout.starts[first + at + 1]! - layout.starts[first + at]!}
          canArrange={props.rights.arrangeColumns}
        />
      ))
  return (
    <GridBox role="rowgroup" className={styles.footer}>
      <GridBox role="row" className={styles.row}>
        <div className={styles.frozen} style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}>
          <RecordCount count={rowCount} />
          {cells(0, layout.frozen - 1)}
        </div>
        {cells(shown.first, shown.last)}
      </GridBox>
    </GridBox>
  )
}

// A separate component, so that plural rules do not run for every row that scrolls in.
const RecordCount = memo(function RecordCount({ count }: { count: number | null }) {
  return (
    <GridText role="rowheader" aria-colindex={1} className={styles.recordCount} data-testid="record-count">
      {count === null ? (
        <span className="visually-hidden">{m.grid_counting_records()}</span>
      ) : (
        m.common_records_count({ count })
      )}
    </GridText>
  )
})

interface SummaryCellProps {
  column: ResolvedColumn
  index: number
  start: number
  width: number
  canArrange: boolean
}

function SummaryCell({ column, index, start, width, canArrange }: SummaryCellProps): ReactNode {
  const engine = useEngine()
  const { summary } = column.column
  const place = { insetInlineStart: start, inlineSize: width }
  const text = summary && (
    <>
      <span className={styles.summaryLabel}>{summary.label}</span>
      <span className={styles.summaryValue}>{summary.value}</span>
    </>
  )
  // Shows truncated text.
  const title = summary ? `${summary.label} ${summary.value}` : undefined
  const isFixed = !canArrange || summarySetOf(column.field) === 'none'
  return (
    <GridBox role="gridcell" aria-colindex={index + 2} className={styles.cell} style={place} title={title}>
      {isFixed ? (
        <div className={styles.summary}>{text}</div>
      ) : (
        <button
          type="button"
          tabIndex={-1}
          className={styles.summary}
          data-part="summary"
          data-testid="summary"
          data-field={column.fieldId}
          aria-label={m.grid_summary_of_field_value({
            field: column.field.title,
            value: summary ? `${summary.label} ${summary.value}` : m.grid_none(),
          })}
          onClick={(event) =>
            engine.commands.openSummaryMenu(column.fieldId, { element: event.currentTarget })
          }
        >
          {text ?? (
            <span className={styles.summaryHint} aria-hidden>
              {m.grid_summary()}
              <ChevronDown size={12} />
            </span>
          )}
        </button>
      )}
    </GridBox>
  )
}
