import { CalendarDays } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { CALENDAR_SCALES, type CalendarScale } from '../../../../../src/core/views/index.ts'
import type { Action } from '../../../../actions/action.ts'
import { useScreenActions } from '../../../../actions/index.ts'
import { m } from '../../../../messages.gen.ts'
import { SCALE_KEYS } from './period-bar.tsx'
import { type Place, todayHere } from './use-place.ts'

/** What a scale is called where it is chosen by word. */
const showScale = (scale: CalendarScale): string =>
  ({
    day: m.calendar_show_the_day(),
    week: m.calendar_show_the_week(),
    month: m.calendar_show_the_month(),
    year: m.calendar_show_the_year(),
  })[scale]

/** The scales and today, in the palette and by key. */
export function useCalendarActions(go: (change: Partial<Place>) => void): void {
  const latest = useRef(go)
  latest.current = go
  const actions = useMemo(() => {
    const group = () => m.calendar_calendar()
    const scales = CALENDAR_SCALES.map(
      (scale): Action => ({
        id: `calendar.${scale}`,
        label: () => showScale(scale),
        group,
        icon: CalendarDays,
        shortcut: SCALE_KEYS[scale],
        run: () => latest.current({ scale }),
      }),
    )
    const today: Action = {
      id: 'calendar.today',
      label: () => m.calendar_go_to_today(),
      group,
      icon: CalendarDays,
      shortcut: 't',
      run: () => latest.current({ day: todayHere() }),
    }
    return [...scales, today]
  }, [])
  useScreenActions(actions)
}
