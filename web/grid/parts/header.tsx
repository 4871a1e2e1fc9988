import { ChevronDown, Lock, Plus, TriangleAlert } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { m } from '../../messages.gen.ts'
import { GridBox } from '../../ui/composite.tsx'
import { countChecked, mayCheck } from '../checks.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { GridProps } from '../contract.ts'
import { useEngine } from '../engine.ts'
import { ADD_FIELD_WIDTH, type ColumnLayout } from '../layout.ts'
import { useStore } from '../store.ts'
import styles from './header.module.css'

interface HeaderProps {
  props: GridProps
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
  rowCount: number
}

/** The row of field titles. */
export function Header({ props, columns, layout, rowCount }: HeaderProps): ReactNode {
  const engine = useEngine()
  const { columns: shown } = useStore(engine.viewport.mounted)
  const cells = (first: number, last: number) =>
    columns
      .slice(first, last + 1)
      .map((column, at) => (
        <HeaderCell
          key={column.fieldId}
          column={column}
          index={first + at}
          start={layout.starts[first + at]!}
          width={layout.starts[first + at + 1]! - layout.starts[first + at]!}
          canArrange={props.rights.arrangeColumns}
        />
      ))
  return (
    <GridBox role="rowgroup" className={styles.header}>
      <GridBox role="row" aria-rowindex={1} className={styles.headerRow}>
        <div className={styles.frozen} style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}>
          <Corner width={layout.rowNumberWidth} rowCount={rowCount} canCheck={mayCheck(props.rights)} />
          {cells(0, layout.frozen - 1)}
          {props.rights.arrangeColumns && <span className={styles.freezeDivider} data-part="freezeDivider" />}
        </div>
        {cells(shown.first, shown.last)}
        {props.rights.addFields && (
          <GridBox
            role="columnheader"
            className={styles.addFieldCell}
            style={{ insetInlineStart: layout.width, inlineSize: ADD_FIELD_WIDTH }}
          >
            <button
              type="button"
              tabIndex={-1}
              className={styles.addField}
              data-part="addField"
              data-testid="add-field"
              aria-label={m.common_add_field()}
              title={m.common_add_field()}
              onClick={(event) => engine.commands.addField({ element: event.currentTarget })}
            >
              <Plus size={15} aria-hidden />
            </button>
          </GridBox>
        )}
      </GridBox>
    </GridBox>
  )
}

function Corner(props: { width: number; rowCount: number; canCheck: boolean }): ReactNode {
  const engine = useEngine()
  const count = countChecked(useStore(engine.checks.checked), props.rowCount)
  return (
    <GridBox
      role="columnheader"
      aria-colindex={1}
      className={styles.corner}
      style={{ inlineSize: props.width }}
    >
      <span className="visually-hidden">{m.grid_record_number()}</span>
      {props.canCheck && (
        <input
          type="checkbox"
          tabIndex={-1}
          data-part="corner"
          data-testid="check-all"
          aria-label={m.grid_select_all_records()}
          checked={count > 0 && count >= props.rowCount}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && count < props.rowCount
          }}
          onChange={() => engine.checks.toggleAll()}
        />
      )}
    </GridBox>
  )
}

interface HeaderCellProps {
  column: ResolvedColumn
  index: number
  start: number
  width: number
  canArrange: boolean
}

const HeaderCell = memo(function HeaderCell({ column, index, start, width, canArrange }: HeaderCellProps) {
  const engine = useEngine()
  const { field, fieldId, cell, column: given } = column
  const { Icon } = cell
  const description = [field.title, cell.type.label(), field.error, field.description]
    .filter(Boolean)
    .join(' · ')
  return (
    <GridBox
      role="columnheader"
      aria-colindex={index + 2}
      aria-sort={given.sorted ? (given.sorted === 'asc' ? 'ascending' : 'descending') : undefined}
      className={styles.headerCell}
      data-testid="header"
      data-part="header"
      data-column={index}
      data-field={fieldId}
      data-broken={field.error !== null || undefined}
      data-tinted={given.sorted || given.filtered || given.grouped || undefined}
      data-align={column.align}
      title={description}
      style={{ insetInlineStart: start, inlineSize: width }}
    >
      {field.error === null ? (
        <Icon size={14} aria-hidden className={styles.headerIcon} />
      ) : (
        <TriangleAlert size={14} aria-label={field.error} className={styles.headerBroken} />
      )}
      <span className={styles.headerTitle} dir="auto">
        {field.title}
      </span>
      {field.required && (
        <span className={styles.required} role="img" aria-label={m.common_required()}>
          *
        </span>
      )}
      {cell.type.readOnly && (
        <Lock size={10} aria-label={m.grid_filled_in_automatically()} className={styles.headerLock} />
      )}
      <button
        type="button"
        tabIndex={-1}
        className={styles.headerMenu}
        data-part="headerMenu"
        data-testid="header-menu"
        aria-label={m.grid_options_for_field({ field: field.title })}
        aria-haspopup="menu"
        onClick={(event) => engine.commands.openHeaderMenu(fieldId, { element: event.currentTarget })}
      >
        <ChevronDown size={14} aria-hidden />
      </button>
      {canArrange && (
        <span className={styles.resize} data-part="resize" data-column={index} data-testid="resize" />
      )}
    </GridBox>
  )
})
