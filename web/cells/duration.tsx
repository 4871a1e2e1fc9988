import { Hourglass } from 'lucide-react'
import { duration, showDuration } from '../../src/core/fields/duration.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'
import styles from './view.module.css'

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
    <TextInput
      {...props}
      initial={duration.format(props.value, props.options)}
      align="end"
      placeholder={props.options.format}
      parse={(text) =>
        draftOf(
          text,
          duration.parse(text, props.options),
          m.cells_enter_duration_such_example({ example: '1:30, 1h 30m' }),
        )
      }
    />
  ),
})
