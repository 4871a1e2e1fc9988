import { CalendarDays } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { type DateFormat, formatDay, parseDay } from '../../../../src/core/fields/date-text.ts'
import { dayFormatOf } from '../../../../src/core/fields/field.ts'
import type { Field } from '../../../../src/core/model.ts'
import { Calendar } from '../../../cells/calendar.tsx'
import { today } from '../../../cells/now.ts'
import { m } from '../../../messages.gen.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Popover } from '../../../ui/overlays.ts'
import toolbar from '../controls/toolbar.module.css'
import styles from './filter-menu.module.css'

/** Formats without day or century are edited in full. */
const typedFormat = (format: DateFormat): DateFormat =>
  parseDay(formatDay('2024-03-05', format), format) === '2024-03-05' ? format : 'YYYY-MM-DD'

interface DayInputProps {
  field: Field
  /** A stored day, or null. */
  day: string | null
  onChange: (day: string | null) => void
}

/** Input for a day, typed in the field's format or ISO 8601, or chosen from a calendar. */
export function DayInput({ field, day, onChange }: DayInputProps) {
  const format = typedFormat(dayFormatOf(field))
  const shown = (of: string | null) => (of === null ? '' : formatDay(of, format))
  const [text, setText] = useState(() => shown(day))
  const [told, setTold] = useState(day)
  const [anchor, setAnchor] = useState<Element | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const help = useId()
  // A value not typed here.
  if (told !== day) {
    setTold(day)
    setText(shown(day))
  }
  const isUnfit = text.trim() !== '' && parseDay(text, format) === null
  const tell = (next: string | null) => {
    setTold(next)
    if (next !== day) onChange(next)
  }
  return (
    <span className={styles.day}>
      <input
        ref={input}
        className={toolbar.input}
        aria-label={m.views_date()}
        aria-invalid={isUnfit || undefined}
        aria-describedby={isUnfit ? help : undefined}
        data-tip={isUnfit ? m.views_enter_date_such_example({ example: shown(today()) }) : undefined}
        placeholder={format}
        dir="ltr"
        size={12}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          tell(parseDay(event.target.value, format))
        }}
      />
      {isUnfit && (
        <span id={help} className="visually-hidden">
          {m.views_enter_date_such_example({ example: shown(today()) })}
        </span>
      )}
      <IconButton
        icon={CalendarDays}
        size="small"
        label={m.views_choose_a_day()}
        aria-expanded={anchor !== null}
        onClick={({ currentTarget }) => setAnchor(anchor ? null : currentTarget)}
      />
      {anchor && (
        <Popover anchor={anchor} onClose={() => setAnchor(null)} label={m.views_choose_a_day()}>
          <Calendar
            day={parseDay(text, format)}
            today={today()}
            focused
            onLeave={() => setAnchor(null)}
            onChoose={(chosen) => {
              setText(shown(chosen))
              tell(chosen)
              setAnchor(null)
              input.current?.focus()
            }}
          />
        </Popover>
      )}
    </span>
  )
}
