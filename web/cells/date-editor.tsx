import { type ReactNode, useState } from 'react'
import { dayIn, fromStored, resolveZone } from '../../src/core/dates.ts'
import { date } from '../../src/core/fields/date.ts'
import { type DateFormat, formatDay, STORED_FORMAT } from '../../src/core/fields/date-text.ts'
import { dateTime } from '../../src/core/fields/date-time.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { formatWithFraction, type InstantOptions, parseInstant } from '../../src/core/fields/instant-text.ts'
import { m } from '../messages.gen.ts'
import { Calendar } from './calendar.tsx'
import type { Draft, EditorProps } from './cell.ts'
import editor from './editor.module.css'
import { now, today } from './now.ts'
import { InputWithPopover, NowOrClear } from './popover-input.tsx'
import { draftOf } from './text-input.tsx'

/** Editor of days. */
export function DayEditor(props: EditorProps<{ format: DateFormat }>) {
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
      today={today()}
      now={{ label: m.cells_today(), text: () => date.format(today(), options) }}
    />
  )
}

const toDay = (value: string | number | boolean | null): string | null =>
  typeof value === 'string' ? value : null

/** The time of day of a text in the field's zone; null if it has no time. */
function timeIn(text: string, options: InstantOptions): string | null {
  const instant = parseInstant(text, { ...options, keepsFraction: true })
  // The text itself may have an offset: where the field's format is ambiguous, instants are shown in UTC.
  const known = instant === null ? text : formatWithFraction(instant, { ...options, format: STORED_FORMAT })
  const at = known.search(/[T ]\d{1,2}:\d{2}/)
  return at < 0 ? null : known.slice(at + 1)
}

/** Editor of instants, in the field's zone. */
export function InstantEditor(props: EditorProps<InstantOptions>) {
  const { value, options } = props
  const current = today(options.timeZone)
  const example = `${formatDay(current, options.format)} 14:30`
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
        const time = timeIn(text, options) ?? (options.time12h ? '12:00 am' : '00:00')
        // Unlike `formatDay`, in ISO 8601 if the field's format would lose the day or the century.
        return `${date.format(day, options)} ${time}`
      }}
      dayIsAll={false}
      today={current}
      now={{ label: m.cells_now(), text: () => dateTime.format(now(), options) }}
    />
  )
}

/** The day of an instant in the field's zone. */
function dayOfInstant(value: CellValue, options: InstantOptions): string | null {
  const ms = typeof value === 'string' ? fromStored(value) : null
  return ms === null ? null : dayIn(ms, resolveZone(options.timeZone))
}

interface DateEditorProps extends Omit<EditorProps, 'options'> {
  /** The value as editable text. */
  initial: string
  placeholder: string
  parse(text: string): Draft
  /** Parses the day in the input; null if it is invalid. */
  dayOf(text: string): string | null
  /** The text after a day is chosen in the calendar. */
  withDay(text: string, day: string): string
  /** True if choosing a day completes the value. */
  dayIsAll: boolean
  /** The current day, which the calendar marks. */
  today: string
  /** The button `Today` or `Now`: its label and text. */
  now: { label: string; text: () => string }
}

/** Editor for dates, typed in the field's format or ISO 8601 or chosen from a calendar that follows the typed date. */
function DateEditor(props: DateEditorProps): ReactNode {
  const { commit, parse } = props
  const [inCalendar, setInCalendar] = useState(false)
  const commitText = (text: string) => {
    const draft = parse(text)
    if (draft.ok) commit(draft.value)
  }
  return (
    <InputWithPopover
      {...props}
      className={editor.popover}
      isKept={inCalendar}
      onKeyDown={(event, _, openPopover) => {
        if (event.key !== 'ArrowDown') return
        event.preventDefault()
        openPopover()
        setInCalendar(true)
      }}
    >
      {(text, setText, focusInput) => (
        <div data-cell-popover>
          <Calendar
            day={props.dayOf(text)}
            today={props.today}
            focused={inCalendar}
            onLeave={() => {
              setInCalendar(false)
              focusInput()
            }}
            onChoose={(day) => {
              const next = props.withDay(text, day)
              if (props.dayIsAll) return commitText(next)
              setText(next)
              setInCalendar(false)
              focusInput()
            }}
          />
          <NowOrClear
            label={props.now.label}
            onNow={() => commitText(props.now.text())}
            onClear={() => commit(null)}
          />
        </div>
      )}
    </InputWithPopover>
  )
}
