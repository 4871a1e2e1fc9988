import type { ReactNode } from 'react'
import { m } from '../../messages.gen.ts'
import type { GridProps } from '../contract.ts'
import { useEngine } from '../engine.ts'
import { type ColumnLayout, HEADER_HEIGHT } from '../layout.ts'
import { useStore } from '../store.ts'
import styles from './drag-layer.module.css'

/** The drop line and a ghost of the dragged column or rows, over the viewport. */
export function DragLayer({ props, layout }: { props: GridProps; layout: ColumnLayout }): ReactNode {
  const engine = useEngine()
  const preview = useStore(engine.preview)
  // The lines stay at their gaps while the grid scrolls under the pointer.
  useStore(engine.viewport.mounted)
  if (!preview || preview.kind === 'fill') return null
  const { viewport } = engine
  if (preview.kind === 'rowLine') {
    const y = HEADER_HEIGHT + preview.top - viewport.top
    return (
      <>
        <div className={styles.rowLine} style={{ insetBlockStart: y - 1 }} />
        <div
          className={styles.ghost}
          style={{ insetBlockStart: preview.pointerY + HEADER_HEIGHT + 8, insetInlineStart: 24 }}
        >
          {m.common_records_count({ count: preview.rows })}
        </div>
      </>
    )
  }
  const gap = preview.kind === 'freezeLine' ? preview.count : preview.gap
  const at = layout.starts[gap] ?? layout.width
  const x = gap <= layout.frozen ? at : at - viewport.inline
  return (
    <>
      <div className={styles.columnLine} data-kind={preview.kind} style={{ insetInlineStart: x - 1 }} />
      {preview.kind === 'columnLine' && (
        <div className={styles.ghost} style={{ insetBlockStart: 4, insetInlineStart: preview.pointerX + 8 }}>
          {preview.moved.length === 1
            ? props.columns[preview.moved[0]!]?.field.title
            : m.grid_fields_count({ count: preview.moved.length })}
        </div>
      )}
    </>
  )
}
