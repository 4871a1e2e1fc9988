import { Hourglass } from 'lucide-react'
import { duration, showDuration } from '../../src/core/fields/duration.ts'
import { m } from '../messages.gen.ts'
import { defineCell, lazyEditor } from './cell.ts'
import styles from './view.module.css'

const PlainEditor = lazyEditor(() => import('./plain-editor.tsx'), 'PlainEditor')

/** A duration; the editor shows full precision, the cell the field's format. */
export const durationCell = defineCell(duration, {
  Icon: Hourglass,
  align: 'end',
  minWidth: 60,
  View: ({ value, options }) =>
    typeof value === 'number' ? (
      <span className={styles.number} dir="ltr">
        {showDuration(value, options.format)}
      </span>
    ) : null,
  Editor: (props) => (
    <PlainEditor
      {...props}
      type={duration}
      initial={duration.format(props.value, props.options)}
      align="end"
      placeholder={props.options.format}
      refusal={m.cells_enter_duration_such_example({ example: '1:30, 1h 30m' })}
    />
  ),
})
