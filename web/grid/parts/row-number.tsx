import { GripVertical, Maximize2, MessageSquare } from 'lucide-react'
import { memo } from 'react'
import { currentLanguage, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { GridBox } from '../../ui/composite.tsx'
import { useEngine } from '../engine.ts'
import type { GridRow } from '../source.ts'
import styles from './row.module.css'

// The same elements for every row: React passes over what it has drawn before.
const GRIP = <GripVertical size={14} aria-hidden />
const EXPAND = <Maximize2 size={13} aria-hidden />

let digits = { language: '', format: new Intl.NumberFormat() }

/** A row's number with separators. The format is kept: making one for each row is felt while scrolling. */
export function rowDigits(row: number): string {
  const language = currentLanguage()
  if (digits.language !== language) digits = { language, format: new Intl.NumberFormat(localeTag()) }
  return digits.format.format(row + 1)
}

interface RowNumberProps {
  row: number
  checked: boolean
  state: GridRow['state']
  message: string | undefined
  commentCount: number
  /** Why records cannot be moved now; null for who never may, and has no handle. */
  canMove: true | string | null
  canCheck: boolean
}

/** What stands before a record: its number; on hover a handle, a check box and a button that opens it. */
export const RowNumber = memo(function RowNumber(props: RowNumberProps) {
  const { row, checked, state, message, commentCount, canMove, canCheck } = props
  const engine = useEngine()
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
        onClick={() => engine.props.commands.expandRow(row, null)}
      >
        {EXPAND}
      </button>
    </GridBox>
  )
})

function stateText(state: GridRow['state'], message: string | undefined): string | null {
  if (message) return message
  if (state === 'saving') return m.grid_saving()
  if (state === 'failed') return m.grid_not_saved()
  if (state === 'unmatched') return m.grid_row_moves_when_left()
  return state === 'new' ? m.grid_new_record_saved_enter_value() : null
}
