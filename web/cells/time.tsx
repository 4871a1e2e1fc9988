import { Clock } from 'lucide-react'
import { formatTime, time } from '../../src/core/fields/time.ts'
import { defineCell, lazyEditor } from './cell.ts'
import { timeOfDay } from './now.ts'
import styles from './view.module.css'

/** A time of day in 12 or 24 hour format. Ctrl+; inserts the current time. */
export const timeCell = defineCell(time, {
  Icon: Clock,
  align: 'start',
  minWidth: 70,
  View: ({ value, options }) =>
    value === null ? null : (
      <span className={styles.date} dir="ltr">
        {formatTime(String(value), options.time12h)}
      </span>
    ),
  Editor: lazyEditor(() => import('./time-editor.tsx'), 'TimeEditor'),
  onKey({ key, ctrl }, { commit }) {
    if (!ctrl || key !== ';') return false
    commit(timeOfDay())
    return true
  },
})
