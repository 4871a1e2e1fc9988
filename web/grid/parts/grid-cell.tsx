import { memo } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { GridBox } from '../../ui/composite.tsx'
import type { ResolvedColumn } from '../columns.ts'
import { useEngine } from '../engine.ts'
import styles from './row.module.css'

interface GridCellProps {
  row: number
  /** Index among the shown columns. */
  index: number
  column: ResolvedColumn
  /** Undefined: not loaded yet; drawn as the outline of a text. */
  value: CellValue | undefined
  /** Inline start and width in pixels. */
  start: number
  width: number
  lines: number
  canEdit: boolean
  /** Why the value was refused. */
  failure: string | undefined
}

/**
 * One cell. Memoised on its value and place, so an edit draws this cell and no other; being selected
 * is drawn by the selection layer and set on `aria-selected` from there.
 */
export const GridCell = memo(function GridCell(props: GridCellProps) {
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
        // Its length varies, so that it reads as text and not as a wall.
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
