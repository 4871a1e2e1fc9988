import { CalendarClock } from 'lucide-react'
import { formatDay } from '../../src/core/fields/date-text.ts'
import { dateTime } from '../../src/core/fields/date-time.ts'
import type { InstantOptions } from '../../src/core/fields/instant-text.ts'
import { m } from '../messages.gen.ts'
import { defineCell, type EditorProps } from './cell.ts'
import { DateEditor, today } from './date-editor.tsx'
import { dayOfInstant, now, showInstant } from './instant.ts'
import { draftOf } from './text-input.tsx'
import styles from './view.module.css'

/** A moment, in the field's format and zone. Ctrl+; is today at midnight, Ctrl+Shift+; is now. */
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
  Editor: InstantEditor,
  shownText: (value, options) => (value === null ? undefined : showInstant(value, options)),
  onKey({ key, ctrl, shift }, { options, commit }) {
    if (!ctrl || (key !== ';' && key !== ':')) return false
    commit(shift ? now() : dateTime.parse(today(), options))
    return true
  },
})

/** The text from its time of day on; null where it has none. */
function timeIn(text: string): string | null {
  const at = text.search(/[T ]\d{1,2}:\d{2}/)
  return at < 0 ? null : text.slice(at + 1)
}

function InstantEditor(props: EditorProps<InstantOptions>) {
  const { value, options } = props
  const example = `${formatDay(today(), options.format)} 14:30`
  return (
    <DateEditor
      {...props}
      initial={dateTime.format(value, options)}
      placeholder={`${options.format} HH:mm`}
      parse={(text) =>
        draftOf(text, dateTime.parse(text, options), m.cells_enter_date_time_such_example({ example }))
      }
      dayOf={(text) => (text === '' ? null : dayOfInstant(dateTime.parse(text, options), options))}
      withDay={(text, day) => {
        const time = timeIn(text) ?? (options.time12h ? '12:00 am' : '00:00')
        return `${formatDay(day, options.format)} ${time}`
      }}
      dayIsAll={false}
      now={{ label: m.cells_now(), text: () => dateTime.format(now(), options) }}
    />
  )
}
