import type { ReactNode } from 'react'
import type { ReadingOptions } from '../../src/core/fields/field-type.ts'
import { formatTime, parseTime, time } from '../../src/core/fields/time.ts'
import { m } from '../messages.gen.ts'
import { Option } from '../ui/composite.tsx'
import type { EditorProps } from './cell.ts'
import editor from './editor.module.css'
import { timeOfDay } from './now.ts'
import { PopoverInput } from './popover-input.tsx'
import { draftOf } from './text-input.tsx'

const HALF_HOURS = Array.from({ length: 48 }, (_, at) => timeAt(at * 30))

/** The editor of times, typed or selected from a list of half hours. */
export function TimeEditor(props: EditorProps<{ time12h: boolean } & ReadingOptions>): ReactNode {
  const { value, options } = props
  const shown = (each: string) => formatTime(each, options.time12h)
  return (
    <PopoverInput
      {...props}
      initial={time.format(value, options)}
      placeholder={shown('09:30:00')}
      parse={(text) =>
        draftOf(
          text,
          parseTime(text, options),
          m.cells_enter_time_such_example({ example: shown('09:30:00') }),
        )
      }
      step={(text, by) => shown(stepped(text, by))}
      list={(text, choose) => (
        <HalfHours at={parseTime(text, options)} shown={shown} label={props.label} onChoose={choose} />
      )}
      now={{ label: m.cells_now(), value: timeOfDay }}
    />
  )
}

interface HalfHoursProps {
  at: string | null
  shown(time: string): string
  label: string
  onChoose(time: string): void
}

function HalfHours({ at, shown, label, onChoose }: HalfHoursProps): ReactNode {
  // The half hour that contains the typed time; ambiguous hours are read as morning.
  const near = HALF_HOURS.findLast((each) => each <= (at ?? '08:00:00'))
  return (
    <div role="listbox" aria-label={label} className={editor.options}>
      {HALF_HOURS.map((each) => (
        <Option
          key={each}
          isActive={each === near}
          block="center"
          aria-selected={each === at}
          data-near={each === near || undefined}
          className={editor.option}
          dir="ltr"
          onClick={() => onChoose(each)}
        >
          {shown(each)}
        </Option>
      ))}
    </div>
  )
}

/** The next half hour before or after, wrapping at midnight. */
function stepped(text: string, by: 1 | -1): string {
  const from = parseTime(text, { keepsFraction: true })
  if (from === null) return timeOfDay().slice(0, 2).concat(':00:00')
  const [hours = 0, minutes = 0, seconds = 0] = from.split(':').map(Number)
  const at = (hours * 60 + minutes + seconds / 60) / 30
  const next = by === 1 ? Math.floor(at) + 1 : Math.ceil(at) - 1
  return timeAt(((next + 48) % 48) * 30)
}

function timeAt(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60, 0].map((part) => String(part).padStart(2, '0')).join(':')
}
