import { useEffect, useState } from 'react'
import { addDays, dayIn, isTimeZone, resolveZone, startOfDay } from '../src/core/dates.ts'
import { shownType } from '../src/core/fields/field.ts'
import type { Field } from '../src/core/model.ts'

/** Longest time between two looks at the clock: timers stand still while a computer sleeps. */
const LOOK_MS = 60_000

/** The zones that say when a day begins in the values of fields: the user's, and those of fields with their own. */
export function zonesOf(fields: readonly Field[]): string[] {
  const own = fields.map((field) => shownType(field).options.timeZone)
  const zones = ['local', ...own.filter((zone) => typeof zone === 'string')].map(resolveZone)
  return [...new Set(zones)].filter(isTimeZone)
}

/**
 * Calls back when a day begins in one of the zones, by the clock of this computer: at midnight, soon after it wakes up
 * if it slept then, or once the page is shown if it is hidden then.
 *
 * @param listener gets the time since the latest midnight
 * @returns ends that
 */
export function onNewDay(zones: readonly string[], listener: (sinceMs: number) => void): () => void {
  const days = (): string => zones.map((zone) => dayIn(Date.now(), zone)).join()
  let known = days()
  let timer: ReturnType<typeof setTimeout> | undefined

  function look(): void {
    wait()
    if (document.hidden) return
    const before = known
    known = days()
    const now = Date.now()
    const sinceMidnights = zones.map((zone) => now - startOfDay(dayIn(now, zone), zone))
    if (known !== before) listener(Math.min(...sinceMidnights))
  }

  function wait(): void {
    clearTimeout(timer)
    const now = Date.now()
    const midnights = zones.map((zone) => startOfDay(addDays(dayIn(now, zone), 1), zone))
    const nextMs = Math.min(LOOK_MS, ...midnights.map((midnight) => midnight - now))
    // Where a clock is put back at midnight, that midnight is over and the day before goes on.
    timer = setTimeout(look, nextMs > 0 ? nextMs : LOOK_MS)
  }

  wait()
  document.addEventListener('visibilitychange', look)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

/** Renders again when a day begins in one of the zones of fields. Returns a number that differs between two days. */
export function useDayCount(fields: readonly Field[]): number {
  const [count, setCount] = useState(0)
  const zones = zonesOf(fields).join()
  useEffect(() => onNewDay(zones.split(','), () => setCount((before) => before + 1)), [zones])
  return count
}
