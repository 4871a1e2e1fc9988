import { Calendar as CalendarIcon } from 'lucide-react'
import { date } from '../../src/core/fields/date.ts'
import { type DateFormat, formatDay } from '../../src/core/fields/date-text.ts'
import { m } from '../messages.gen.ts'
import { defineCell, type EditorProps } from './cell.ts'
import { DateEditor, today } from './date-editor.tsx'
import { draftOf } from './text-input.tsx'
import styles from './view.module.css'

/** A day, in the field's format. Ctrl+; is today. */
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
  Editor: DayEditor,
  shownText: (value, options) => (value === null ? undefined : formatDay(String(value), options.format)),
  onKey({ key, ctrl }, { commit }) {
    if (!ctrl || (key !== ';' && key !== ':')) return false
    commit(today())
    return true
  },
})

function DayEditor(props: EditorProps<{ format: DateFormat }>) {
  const { value, options } = props
  const dayOf = (text: string) => (text === '' ? null : toDay(date.parse(text, options)))
  return (
    <DateEditor
      {...props}
      initial={date.format(value, options)}
      placeholder={options.format}
      parse={(text) =>
        draftOf(
          text,
          date.parse(text, options),
          m.cells_enter_date_such_example({ example: formatDay(today(), options.format) }),
        )
      }
      dayOf={dayOf}
      withDay={(_, day) => date.format(day, options)}
      dayIsAll
      now={{ label: m.cells_today(), text: () => date.format(today(), options) }}
    />
  )
}

const toDay = (value: string | number | boolean | null): string | null =>
  typeof value === 'string' ? value : null
