import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { GridBox } from '../../ui/composite.tsx'
import type { ResolvedColumn } from '../columns.ts'
import type { GridProps } from '../contract.ts'
import { useEngine } from '../engine.ts'
import { ADD_ROW_HEIGHT, type ColumnLayout, ROW_HEIGHTS, ROW_LINES } from '../layout.ts'
import { useStore } from '../store.ts'
import styles from './row.module.css'
import { Row } from './row.tsx'

/** Loaded with the first grouped view. */
const GroupLines = lazyPart(() => import('../groups/group-lines.tsx'), 'GroupLines')

interface RowsProps {
  props: GridProps
  columns: readonly ResolvedColumn[]
  layout: ColumnLayout
  rowCount: number
  revision: number
}

/**
 * The visible rows. Row elements are recycled (the key is the row's position modulo the pool size): changing a cell's
 * text costs a fraction of creating a cell.
 */
export function Rows({ props, columns, layout, rowCount, revision }: RowsProps): ReactNode {
  const engine = useEngine()
  const { lines, places, rows, columns: shown, origin, pool } = useStore(engine.viewport.mounted)
  const height = ROW_HEIGHTS[props.rowHeight]
  const drawn: ReactNode[] = []
  for (let place = places.first; place <= places.last; place++) {
    const index = lines.rowOf(place)
    if (index >= rowCount) break
    drawn.push(
      <Row
        key={place % pool}
        source={props.source}
        index={index}
        position={lines.positionOf(index)}
        top={lines.topOf(index) - origin}
        height={height}
        lines={ROW_LINES[props.rowHeight]}
        columns={columns}
        layout={layout}
        first={shown.first}
        last={shown.last}
        rights={props.rights}
        comments={props.comments}
        colorOf={props.colorOf}
        revision={revision}
      />,
    )
  }
  const isEndNear = rows.last >= rowCount - 1
  return (
    <>
      {drawn}
      {props.groups && <GroupLines groups={props.groups} columns={columns} layout={layout} />}
      {props.rights.addRecords && isEndNear && !engine.hasGroups && (
        <AddRow top={lines.height - origin} rowIndex={rowCount + 2} width={layout.width} />
      )}
    </>
  )
}

function AddRow({ top, rowIndex, width }: { top: number; rowIndex: number; width: number }): ReactNode {
  const engine = useEngine()
  return (
    <GridBox
      role="row"
      aria-rowindex={rowIndex}
      className={styles.addRow}
      style={{ insetBlockStart: top, blockSize: ADD_ROW_HEIGHT, inlineSize: width }}
    >
      <GridBox role="gridcell" aria-colindex={1} className={styles.addRowCell}>
        <button
          type="button"
          tabIndex={-1}
          className={styles.addRowButton}
          data-part="addRow"
          data-testid="add-row"
          title={m.grid_new_record_ctrl_enter()}
          onClick={() => engine.addRow({ atEnd: true })}
        >
          <Plus size={14} aria-hidden />
          {m.common_new_record()}
        </button>
      </GridBox>
    </GridBox>
  )
}
