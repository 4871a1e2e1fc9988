import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { MAX_YEAR, year } from '../../src/core/fields/year.ts'
import { m } from '../messages.gen.ts'
import calendar from './calendar.module.css'
import type { EditorProps } from './cell.ts'
import { PopoverInput } from './popover-input.tsx'
import { draftOf } from './text-input.tsx'

/** Years per page of the list. */
const PAGE = 20

const thisYear = (): number => new Date().getFullYear()

/** The editor of years, typed or selected from a grid of years. */
export function YearEditor(props: EditorProps<Record<string, never>>): ReactNode {
  const parse = (text: string) => year.parse(text, {})
  return (
    <PopoverInput
      {...props}
      initial={year.format(props.value, {})}
      placeholder={String(thisYear())}
      inputMode="numeric"
      parse={(text) => draftOf(text, parse(text), m.cells_enter_year_0_last({ last: MAX_YEAR }))}
      step={(text, by) => {
        const from = parse(text)
        return String(from === null ? thisYear() : held(Number(from) + by))
      }}
      list={(text, choose) => <Years key={pageOf(text)} chosen={parse(text)} onChoose={choose} />}
      now={{ label: m.cells_this_year(), value: thisYear }}
    />
  )

  /** The page follows the typed year, except for a single digit. */
  function pageOf(text: string): number {
    const typed = parse(text)
    return typeof typed === 'number' && text.trim().length > 2 ? Math.floor(typed / PAGE) : -1
  }
}

interface YearsProps {
  chosen: string | number | boolean | null
  onChoose: (year: number) => void
}

function Years({ chosen, onChoose }: YearsProps): ReactNode {
  const start = typeof chosen === 'number' && chosen > 99 ? chosen : thisYear()
  const [from, setFrom] = useState(Math.floor(start / PAGE) * PAGE)
  const last = Math.min(MAX_YEAR, from + PAGE - 1)
  const turn = (by: number, label: string, Icon: typeof ChevronLeft) => (
    <button type="button" tabIndex={-1} aria-label={label} onClick={() => setFrom(held(from + by * PAGE))}>
      <Icon size={16} aria-hidden />
    </button>
  )
  return (
    <div className={calendar.calendar}>
      <div className={calendar.calendarHead}>
        {turn(-1, m.cells_earlier_years(), ChevronLeft)}
        <span aria-live="polite" dir="ltr">
          {from} – {last}
        </span>
        {turn(1, m.cells_later_years(), ChevronRight)}
      </div>
      <div className={calendar.years}>
        {Array.from({ length: last - from + 1 }, (_, at) => from + at).map((each) => (
          <button
            key={each}
            type="button"
            tabIndex={-1}
            className={calendar.day}
            aria-pressed={each === chosen}
            aria-current={each === thisYear() ? 'date' : undefined}
            onClick={() => onChoose(each)}
          >
            {each}
          </button>
        ))}
      </div>
    </div>
  )
}

const held = (value: number): number => Math.max(0, Math.min(MAX_YEAR, value))
