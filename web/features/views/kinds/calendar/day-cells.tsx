import type { ReactNode } from 'react'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridButton, GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { type ChipStyle, EventChip } from './event-chip.tsx'
import type { BarSegment } from './event-layout.ts'
import { dayName, weekdayName } from './labels.ts'
import { isWeekend } from './period.ts'

interface StackedDayProps {
  day: string
  calendar: CalendarContext
  className: string | undefined
  isOtherMonth?: boolean
  /** Events on the day, including hidden ones. */
  count: number
  /** Bars that start in this cell. */
  bars: readonly BarSegment[]
  /** Events that do not fit; a button in row `moreRow` lists the whole day. */
  hidden: number
  moreRow: number
  moreClassName: string | undefined
  children?: ReactNode
}

/** A day whose events are stacked below each other: of a month, or of the all-day row above the hours. */
export function StackedDay(props: StackedDayProps) {
  const { day, calendar, bars, hidden } = props
  return (
    <GridBox
      role="gridcell"
      className={props.className}
      aria-current={day === calendar.today ? 'date' : undefined}
      tabIndex={day === calendar.tabStopDay ? 0 : -1}
      data-day={day}
      data-other={props.isOtherMonth || undefined}
      data-weekend={isWeekend(day) || undefined}
      data-adds={calendar.newRecordRange !== null || undefined}
      onClick={() => calendar.add({ day, minute: null })}
    >
      {/* Hidden text, because `aria-label` would hide the cell's own text from speech control. */}
      <span className="visually-hidden">
        {`${dayName(day)}, ${m.common_records_count({ count: props.count })}`}
      </span>
      {props.children}
      {bars.map(({ event, row, firstColumn, lastColumn, continuesBefore, continuesAfter }) => (
        <EventChip
          key={event.key}
          event={event}
          calendar={calendar}
          day={day}
          continuesBefore={continuesBefore}
          continuesAfter={continuesAfter}
          shape={event.isAllDay || event.firstDay < event.lastDay ? 'bar' : 'line'}
          style={{ '--row': row, '--span': lastColumn - firstColumn + 1 }}
        />
      ))}
      {hidden > 0 && (
        <MoreButton
          day={day}
          count={hidden}
          calendar={calendar}
          className={props.moreClassName}
          style={{ '--row': props.moreRow }}
        >
          {m.common_more_count({ count: hidden })}
        </MoreButton>
      )}
    </GridBox>
  )
}

interface MoreButtonProps {
  day: string
  /** Number of hidden events. */
  count: number
  calendar: CalendarContext
  className: string | undefined
  style: ChipStyle
  children: ReactNode
}

/** Replaces the events that do not fit; opens the list of the day. */
export function MoreButton({ day, count, calendar, className, style, children }: MoreButtonProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className={className}
      style={style}
      data-more
      aria-label={m.calendar_more_on_day({ count, day: dayName(day) })}
      onClick={(click) => {
        click.stopPropagation()
        calendar.showDay(day, click.currentTarget)
      }}
    >
      {children}
    </button>
  )
}

interface MiniMonthProps {
  label: string
  weeks: readonly (readonly string[])[]
  className?: string | undefined
  weekClassName: string | undefined
  weekdayClassName: string | undefined
  style?: ChipStyle
  renderDay: (day: string) => ReactNode
}

/** A small month without event titles: a row of weekdays above its weeks. */
export function MiniMonth(props: MiniMonthProps) {
  const { label, weeks, weekClassName } = props
  return (
    <GridBox role="grid" aria-label={label} className={props.className} style={props.style}>
      <GridBox role="row" className={weekClassName}>
        {weeks[0]?.map((day) => (
          <GridText
            key={day}
            role="columnheader"
            aria-label={weekdayName(day, 'long')}
            className={props.weekdayClassName}
          >
            {weekdayName(day, 'narrow')}
          </GridText>
        ))}
      </GridBox>
      {weeks.map((week) => (
        <GridBox key={week[0]} role="row" className={weekClassName}>
          {week.map(props.renderDay)}
        </GridBox>
      ))}
    </GridBox>
  )
}

interface MiniDayProps {
  day: string
  calendar: CalendarContext
  className: string | undefined
  /** Events on the day. */
  count: number
  onClick: () => void
  isSelected?: boolean
  isOtherMonth?: boolean
  /** Shade from 1 to 4 by the number of events; 0: unshaded. */
  level?: number
  hasTip?: boolean
  children: ReactNode
}

/** A day of a `MiniMonth`. */
export function MiniDay(props: MiniDayProps) {
  const { day, calendar, count } = props
  const label = `${dayName(day)}, ${m.common_records_count({ count })}`
  return (
    <GridButton
      type="button"
      role="gridcell"
      className={props.className}
      aria-label={label}
      aria-current={day === calendar.today ? 'date' : undefined}
      aria-selected={props.isSelected}
      data-tip={props.hasTip && count > 0 ? label : undefined}
      tabIndex={day === calendar.tabStopDay ? 0 : -1}
      data-day={day}
      data-other={props.isOtherMonth || undefined}
      data-level={props.level || undefined}
      onClick={props.onClick}
    >
      {props.children}
    </GridButton>
  )
}
