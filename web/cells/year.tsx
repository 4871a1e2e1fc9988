import { CalendarRange } from 'lucide-react'
import { year } from '../../src/core/fields/year.ts'
import { defineCell, lazyEditor } from './cell.ts'
import styles from './view.module.css'

/** A year, typed or selected from a grid of years. */
export const yearCell = defineCell(year, {
  Icon: CalendarRange,
  align: 'start',
  minWidth: 60,
  View: ({ value }) =>
    value === null ? null : (
      <span className={styles.date} dir="ltr">
        {String(value)}
      </span>
    ),
  Editor: lazyEditor(() => import('./year-editor.tsx'), 'YearEditor'),
})
