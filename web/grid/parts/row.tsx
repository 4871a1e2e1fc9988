import { type CSSProperties, memo, type ReactNode, useCallback, useSyncExternalStore } from 'react'
import { GridBox } from '../../ui/composite.tsx'
import { isChecked } from '../checks.ts'
import type { ResolvedColumn } from '../columns.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
import type { GridRights, GridRow, GridSource, RowColorOf } from '../source.ts'
import { useStorePart } from '../store.ts'
import { GridCell } from './grid-cell.tsx'
import styles from './row.module.css'
import { RowNumber, rowDigits } from './row-number.tsx'

export interface RowProps {
  source: GridSource
  index: number
  /** How many lines stand above it. */
  position: number
  /** Where it stands in the scrolled element. */
  top: number
  height: number
  lines: number
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
  /** Scrolling columns to draw, both included. */
  first: number
  last: number
  rights: GridRights
  colorOf?: RowColorOf | null
  /** Grows when every index may mean another record. */
  revision: number
}

/** One record across: the frozen part stays at the start edge, the rest scrolls under it. */
export const Row = memo(function Row(props: RowProps) {
  const { source, index, position, top, height, layout, first, last } = props
  const subscribe = useCallback(
    (onChange: () => void) => source.subscribeRow(index, onChange),
    [source, index],
  )
  const row = useSyncExternalStore(subscribe, () => source.getRow(index))
  const { checked } = useEngine().checks
  const color = (row && props.colorOf?.(row)) ?? null
  const isTicked = useStorePart(checked, (rows) => row !== undefined && isChecked(rows, row.id))
  return (
    <GridBox
      role="row"
      aria-rowindex={position + 2}
      className={styles.row}
      data-testid="row"
      data-index={index}
      data-loaded={row ? true : undefined}
      data-state={row?.state}
      data-checked={isTicked || undefined}
      data-color={color ? (color.isBackground ? 'ground' : 'bar') : undefined}
      style={rowStyle(top, height, color?.color)}
    >
      <div className={styles.frozen} style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}>
        <FirstCell {...props} row={row} isTicked={isTicked} />
        {cellsOf(props, row, 0, layout.frozen - 1)}
      </div>
      {cellsOf(props, row, first, last)}
    </GridBox>
  )
})

function rowStyle(insetBlockStart: number, blockSize: number, color: string | undefined): CSSProperties {
  const variables: Record<`--${string}`, string> = color ? { '--row-color': color } : {}
  return { insetBlockStart, blockSize, ...variables }
}

function FirstCell({
  row,
  index,
  rights,
  isTicked,
}: RowProps & { row: GridRow | undefined; isTicked: boolean }): ReactNode {
  if (!row) {
    return (
      <GridBox role="rowheader" aria-colindex={1} className={styles.rowNumber} aria-busy>
        <span className="visually-hidden">{rowDigits(index)}</span>
      </GridBox>
    )
  }
  return (
    <RowNumber
      row={index}
      state={row.state}
      message={row.message}
      checked={isTicked}
      commentCount={row.commentCount ?? 0}
      canMove={rights.editRecords ? rights.moveRecords : null}
      canCheck={rights.editRecords || rights.deleteRecords}
    />
  )
}

function cellsOf(props: RowProps, row: GridRow | undefined, first: number, last: number): ReactNode[] {
  const { index, columns, layout, lines, rights } = props
  const cells: ReactNode[] = []
  for (let at = first; at <= last; at++) {
    const column = columns[at]
    if (!column) break
    const start = layout.starts[at]!
    cells.push(
      <GridCell
        key={column.fieldId}
        row={index}
        index={at}
        column={column}
        value={row?.values(column.fieldId)}
        start={start}
        width={layout.starts[at + 1]! - start}
        lines={lines}
        canEdit={row !== undefined && rights.editRecords && column.editable}
        failure={row?.failedCells?.get(column.fieldId)}
      />,
    )
  }
  return cells
}
