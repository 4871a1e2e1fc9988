import { GripVertical, Maximize2, MessageSquare } from 'lucide-react'
import { type CSSProperties, memo, type ReactNode, useCallback, useSyncExternalStore } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { PressedRecordProvider } from '../../cells/pressed-record.ts'
import { currentLanguage, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { GridBox } from '../../ui/composite.tsx'
import { isChecked, mayCheck } from '../checks.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { CommentCounts, GridRights, GridRow, GridSource, RowColorOf } from '../contract.ts'
import { useEngine } from '../engine.ts'
import type { ColumnLayout } from '../layout.ts'
import { useStorePart } from '../store.ts'
import styles from './row.module.css'

interface RowProps {
  source: GridSource
  index: number
  /** Number of lines above it. */
  position: number
  /** Position in the scrolled element. */
  top: number
  height: number
  lines: number
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
  /** Scrolling columns to draw, inclusive. */
  first: number
  last: number
  rights: GridRights
  colorOf?: RowColorOf | null
  comments?: CommentCounts | null
  /** Increases when every index may refer to another record. */
  revision: number
}

/** One record: frozen cells stay at the start edge, the others scroll below them. */
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
      <PressedRecordProvider value={row && row.state !== 'new' ? row.id : null}>
        <div className={styles.frozen} style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}>
          <FirstCell {...props} row={row} isTicked={isTicked} />
          {cellsOf(props, row, 0, layout.frozen - 1)}
        </div>
        {cellsOf(props, row, first, last)}
      </PressedRecordProvider>
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
  comments,
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
      comments={comments ?? null}
      recordId={row.state === 'new' ? null : row.id}
      canMove={rights.editRecords ? rights.moveRecords : null}
      canCheck={mayCheck(rights)}
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

interface GridCellProps {
  row: number
  /** Index among the visible columns. */
  index: number
  column: ResolvedColumn
  /** Undefined until loaded; drawn as a skeleton. */
  value: CellValue | undefined
  /** Inline start and width in pixels. */
  start: number
  width: number
  lines: number
  canEdit: boolean
  /** Why the value was rejected. */
  failure: string | undefined
}

/**
 * One cell. Memoised on its value and position, so an edit renders this cell only; the selection layer draws the
 * selection and sets `aria-selected`.
 */
const GridCell = memo(function GridCell(props: GridCellProps) {
  const { row, index, column, value, start, width, lines, canEdit, failure } = props
  const engine = useEngine()
  const { cell, field, fieldId } = column
  const { View } = cell
  const commit = canEdit
    ? (next: CellValue) => {
        if (!cell.selectsFirst || engine.pressedOnActive) engine.setCell(row, fieldId, next)
      }
    : undefined
  return (
    <GridBox
      role="gridcell"
      aria-colindex={index + 2}
      aria-selected={false}
      aria-readonly={canEdit ? undefined : true}
      aria-busy={value === undefined || undefined}
      aria-invalid={failure ? true : undefined}
      className={styles.cell}
      data-testid="cell"
      data-part="cell"
      data-row={row}
      data-column={index}
      data-field={fieldId}
      data-align={column.align}
      data-display={field.isDisplay || undefined}
      data-failed={failure ? true : undefined}
      title={failure}
      style={{ insetInlineStart: start, inlineSize: width }}
    >
      {value === undefined ? (
        // Widths vary, so that skeletons look like text.
        <span className={styles.bone} style={{ inlineSize: `${40 + ((index * 37) % 45)}%` }} />
      ) : (
        <View
          value={value}
          field={field}
          options={column.options}
          variant="grid"
          lines={lines}
          width={width - 17}
          commit={commit}
        />
      )}
    </GridBox>
  )
})

// Shared elements: React skips identical ones.
const GRIP = <GripVertical size={14} aria-hidden />
const EXPAND = <Maximize2 size={13} aria-hidden />

let digits = { language: '', format: new Intl.NumberFormat() }

/** A row number with separators. The formatter is reused: creating one per row slows scrolling. */
function rowDigits(row: number): string {
  const language = currentLanguage()
  if (digits.language !== language) digits = { language, format: new Intl.NumberFormat(localeTag()) }
  return digits.format.format(row + 1)
}

interface RowNumberProps {
  row: number
  checked: boolean
  state: GridRow['state']
  message: string | undefined
  comments: CommentCounts | null
  /** Null for a record that is not sent yet. */
  recordId: RecordId | null
  /** Reason why records cannot be moved now; null without the right, which hides the handle. */
  canMove: true | string | null
  canCheck: boolean
}

/** The row's start: its number; on hover a drag handle, a check box and an "open" button. */
const RowNumber = memo(function RowNumber(props: RowNumberProps) {
  const { row, checked, state, message, comments, recordId, canMove, canCheck } = props
  const engine = useEngine()
  const commentCount = useCommentCount(comments, recordId)
  const mark = stateText(state, message)
  return (
    <GridBox
      role="rowheader"
      aria-colindex={1}
      className={styles.rowNumber}
      data-part="rowNumber"
      data-row={row}
      data-checked={checked || undefined}
    >
      {canMove !== null && (
        <span
          className={styles.rowHandle}
          data-part="rowHandle"
          data-row={row}
          data-disabled={canMove !== true || undefined}
          title={canMove === true ? m.common_drag_to_move() : canMove}
        >
          {GRIP}
        </span>
      )}
      {canCheck && (
        <input
          type="checkbox"
          className={styles.rowCheck}
          tabIndex={-1}
          checked={checked}
          data-part="rowCheck"
          data-row={row}
          aria-label={m.grid_select_record({ n: row + 1 })}
          onChange={(event) => {
            const { nativeEvent } = event
            engine.checks.toggleOrReport(row, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
          }}
        />
      )}
      <span className={styles.rowDigits}>{rowDigits(row)}</span>
      {mark && (
        <span className={styles.rowMark} data-state={state} role="img" aria-label={mark} title={mark} />
      )}
      {commentCount > 0 && (
        <span className={styles.comments} title={m.grid_comments_count({ count: commentCount })}>
          <MessageSquare size={11} aria-hidden />
          {commentCount}
        </span>
      )}
      <button
        type="button"
        tabIndex={-1}
        className={styles.rowExpand}
        data-part="rowExpand"
        data-testid="expand-row"
        title={m.grid_open_record_space()}
        aria-label={m.grid_open_record({ n: row + 1 })}
        onClick={() => engine.commands.expandRow(row, null)}
      >
        {EXPAND}
      </button>
    </GridBox>
  )
})

function useCommentCount(counts: CommentCounts | null, recordId: RecordId | null): number {
  const subscribe = useCallback(
    (onChange: () => void) =>
      counts === null || recordId === null ? () => {} : counts.subscribe(recordId, onChange),
    [counts, recordId],
  )
  return useSyncExternalStore(subscribe, () =>
    counts === null || recordId === null ? 0 : counts.of(recordId),
  )
}

function stateText(state: GridRow['state'], message: string | undefined): string | null {
  if (message) return message
  if (state === 'saving') return m.grid_saving()
  if (state === 'failed') return m.grid_not_saved()
  if (state === 'unmatched') return m.grid_row_moves_when_left()
  return state === 'new' ? m.grid_new_record_saved_enter_value() : null
}
