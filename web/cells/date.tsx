import {
  CalendarClock,
  Calendar as CalendarIcon,
  CalendarPlus,
  CalendarSync,
  type LucideIcon,
} from 'lucide-react'
import { date } from '../../src/core/fields/date.ts'
import { formatDay } from '../../src/core/fields/date-text.ts'
import { createdTime, dateTime, lastModifiedTime } from '../../src/core/fields/date-time.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { formatInstant, type InstantOptions } from '../../src/core/fields/instant-text.ts'
import { type Cell, defineCell, lazyEditor } from './cell.ts'
import { now, today } from './now.ts'
import styles from './view.module.css'

const editors = () => import('./date-editor.tsx')

/** A day, in the field's format. Ctrl+; inserts today. */
export const dateCell = defineCell(date, {
  Icon: CalendarIcon,
  align: 'start',
  minWidth: 90,
  View: ({ value, options }) =>
    value === null ? null : (
      <span className={styles.date} dir="ltr">
        {formatDay(String(value), options.format)}
      </span>
    ),
  Editor: lazyEditor(editors, 'DayEditor'),
  shownText: (value, options) => (value === null ? undefined : formatDay(String(value), options.format)),
  onKey({ key, ctrl }, { commit }) {
    if (!ctrl || key !== ';') return false
    commit(today())
    return true
  },
})

/** An instant, in the field's format and zone. Ctrl+; inserts today at midnight, Ctrl+Shift+; the current time. */
export const dateTimeCell = defineCell(dateTime, {
  Icon: CalendarClock,
  align: 'start',
  minWidth: 120,
  View: ({ value, options }) =>
    value === null ? null : (
      <span className={styles.date} dir="ltr">
        {showInstant(value, options)}
      </span>
    ),
  Editor: lazyEditor(editors, 'InstantEditor'),
  shownText: (value, options) => (value === null ? undefined : showInstant(value, options)),
  onKey({ key, ctrl, shift }, { options, commit }) {
    if (!ctrl || key !== ';') return false
    commit(shift ? now() : dateTime.parse(today(options.timeZone), options))
    return true
  },
})

/** An instant as the field shows it, in the field's zone. */
const showInstant = (value: CellValue, options: InstantOptions): string =>
  value === null ? '' : formatInstant(String(value), options)

/** A timestamp set by the server: shown like any other, never edited. */
const systemTimeCell = (type: FieldType<InstantOptions>, Icon: LucideIcon): Cell<InstantOptions> =>
  defineCell<InstantOptions>(type, {
    Icon,
    align: 'start',
    minWidth: 120,
    shownText: (value, options) => (value === null ? undefined : showInstant(value, options)),
    View: ({ value, options }) =>
      value === null ? null : (
        <span className={styles.date} dir="ltr">
          {showInstant(value, options)}
        </span>
      ),
  })

/** The record's creation time. */
export const createdTimeCell = systemTimeCell(createdTime, CalendarPlus)

/** The time of the record's last change. */
export const lastModifiedTimeCell = systemTimeCell(lastModifiedTime, CalendarSync)
