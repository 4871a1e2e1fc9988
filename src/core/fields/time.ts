import * as z from 'zod/mini'
import { fractionDigits } from '../dates.ts'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, type ReadingOptions, readFail, readOk } from './field-type.ts'

type TimeOptions = { time12h: boolean } & ReadingOptions

/** A time of day without date or zone: to the second, in connected databases to the column's precision. */
export const time = defineFieldType({
  name: 'Time',
  label: m.field_type_time,
  group: 'date',
  help: m.field_type_time_help,
  example: '09:30',
  storage: 'time',
  options: z.object({ time12h: z._default(z.boolean(), false) }),
  filters: 'time',
  summaries: 'count',
  optionsLimitValues: true,
  read(input, options: TimeOptions) {
    const read = typeof input === 'string' ? readTime(input, options) : null
    return read === null ? readFail(m.value_error_time({ value: describeValue(input) })) : readOk(read)
  },
  parse: (text, options: TimeOptions) => parseTime(text, options),
  format: (value, { time12h }) => (value === null ? '' : formatTime(String(value), time12h)),
  databaseTypes: { sqlite3: 'time', pg: 'time' },
})

const MAX_LENGTH = 40
/** `9`, `9:5`, `09:05:30`, `09:05:30.250`, `9.05`, `9h05`, with or without `am`, `pm`, `a`, `p`. */
const SEPARATED = /^(\d{1,2})(?:[:.h](\d{1,2})?(?:[:.](\d{1,2})(?:[.,](\d{1,9}))?)?)?$/
/** `0905`, `905`, `090530`. */
const COMPACT = /^(\d{1,2})(\d{2})(\d{2})?$/
const STRICT = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/

/** Parses a time from an API client: `9:05`, `09:05:00`; null for anything else. */
function readTime(text: string, options: ReadingOptions = {}): string | null {
  if (text.length > MAX_LENGTH) return null
  const match = STRICT.exec(text.trim())
  if (!match) return null
  const [, hours, minutes, seconds, fraction] = match
  return toTime({ hours, minutes, seconds, fraction }, options)
}

/** Parses a time as people write it: `9:5pm`, `0905`, `9 am`, `9h30`; null for anything else. */
export function parseTime(text: string, options: ReadingOptions = {}): string | null {
  if (text.length > MAX_LENGTH) return null
  const bare = text.trim().toLowerCase()
  const half = /(?:a\.m\.|p\.m\.|am|pm|a|p)$/.exec(bare)?.[0]
  const body = bare.slice(0, bare.length - (half?.length ?? 0)).trimEnd()
  const match = SEPARATED.exec(body) ?? COMPACT.exec(body)
  if (!match) return null
  const [, hours, minutes, seconds, fraction] = match
  return toTime({ hours, minutes, seconds, fraction, half: half?.[0] }, options)
}

interface TimeParts {
  hours: string | undefined
  minutes: string | undefined
  seconds: string | undefined
  fraction: string | undefined
  /** `a` or `p` in 12-hour notation. */
  half?: string | undefined
}

/**
 * The stored form, `HH:MM:SS` with an optional fraction of 3, 6 or 9 digits, which sorts as text. Null for an
 * invalid time, or a fraction that the column cannot hold.
 */
function toTime(
  { hours = '', minutes = '0', seconds = '0', fraction = '', half }: TimeParts,
  { keepsFraction = false }: ReadingOptions,
): string | null {
  const digits = fractionDigits(fraction)
  if (digits !== '' && !keepsFraction) return null
  let [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)]
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null
    hour = (hour % 12) + (half === 'p' ? 12 : 0)
  }
  if (hour > 23 || minute > 59 || second > 59) return null
  const time = [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':')
  return digits === '' ? time : `${time}.${digits}`
}

/** Formats a stored time: `09:05`, `9:05 PM`; with seconds and fraction if they are not 0. */
export function formatTime(time: string, time12h: boolean): string {
  const [hours = '00', minutes = '00', seconds = '00'] = time.split(':')
  const tail = Number(seconds) === 0 ? minutes : `${minutes}:${seconds}`
  if (!time12h) return `${hours}:${tail}`
  const hour = Number(hours)
  return `${hour % 12 || 12}:${tail} ${hour < 12 ? 'AM' : 'PM'}`
}
