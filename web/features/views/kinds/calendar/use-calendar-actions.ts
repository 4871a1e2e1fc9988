import { CalendarDays } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { CALENDAR_SCALES, type CalendarScale } from '../../../../../src/core/views/index.ts'
import type { Action } from '../../../../actions/action.ts'
import { useScreenActions } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { SCALE_KEYS } from './period-bar.tsx'
import { type Place, todayHere } from './use-place.ts'

/** What a scale is called where it is chosen by word. */
const showScale = (scale: CalendarScale): string =>
  ({
    day: t('Show the day'),
    week: t('Show the week'),
    month: t('Show the month'),
    year: t('Show the year'),
  })[scale]

/** The scales and today, in the palette and by key. */
export function useCalendarActions(go: (change: Partial<Place>) => void): void {
  const latest = useRef(go)
  latest.current = go
  const actions = useMemo(() => {
    const group = () => t('Calendar')
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
      label: () => t('Go to today'),
      group,
      icon: CalendarDays,
      shortcut: 't',
      run: () => latest.current({ day: todayHere() }),
    }
    return [...scales, today]
  }, [])
  useScreenActions(actions)
}
