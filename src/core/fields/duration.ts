import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { readNumber } from './number.ts'
import { readNumberText } from './number-text.ts'

/** Display formats; `meta.duration` in REST is an index into this list. */
export const DURATION_FORMATS = ['h:mm', 'h:mm:ss', 'h:mm:ss.s', 'h:mm:ss.ss', 'h:mm:ss.sss'] as const

export type DurationFormat = (typeof DURATION_FORMATS)[number]

const MAX_LENGTH = 60
/** `1:30`, `1:30:15`, `0:00:01.5`; any number of hours. */
const CLOCK = /^(\d{1,12}):(\d{1,2})(?::(\d{1,2}(?:[.,]\d{1,9})?))?$/
const UNIT_SECONDS: Record<string, number> = {
  d: 86_400,
  day: 86_400,
  days: 86_400,
  h: 3600,
  hr: 3600,
  hrs: 3600,
  hour: 3600,
  hours: 3600,
  m: 60,
  min: 60,
  mins: 60,
  minute: 60,
  minutes: 60,
  s: 1,
  sec: 1,
  secs: 1,
  second: 1,
  seconds: 1,
  ms: 0.001,
}

/**
 * Parses a duration as people write it: `1:30`, `1h 30m`, `-0:30`, `90`. Under `h:mm`, a number without a unit is
 * minutes and `1:30` is hours and minutes; under all other formats, they are seconds, and minutes and seconds.
 *
 * @returns seconds; null if any part of the text does not fit
 */
export function parseDuration(text: string, format: DurationFormat): number | null {
  if (text.length > MAX_LENGTH) return null
  const [, sign = '', body = ''] = /^([-+−–]?)\s*(.*)$/s.exec(text.trim()) ?? []
  const seconds = clockSeconds(body, format) ?? unitSeconds(body) ?? plainSeconds(body, format)
  if (seconds === null) return null
  return sign === '' || sign === '+' ? seconds : 0 - seconds
}

function clockSeconds(text: string, format: DurationFormat): number | null {
  const match = CLOCK.exec(text)
  if (!match) return null
  const [first, second] = [Number(match[1]), Number(match[2])]
  if (second > 59) return null
  if (match[3] === undefined) return format === 'h:mm' ? first * 3600 + second * 60 : first * 60 + second
  const rest = readNumberText(match[3].replace(',', '.'))
  if (rest === null || rest >= 60) return null
  return rounded(first * 3600 + second * 60 + rest)
}

/** `1h 30m`, `1.5 hours`, `250 ms`: each unit once, from the largest to the smallest. */
function unitSeconds(text: string): number | null {
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*([a-z]+)[\s,]*/gy)]
  if (parts.length === 0 || parts.reduce((sum, [all]) => sum + all.length, 0) !== text.length) return null
  let last = Number.POSITIVE_INFINITY
  let seconds = 0
  for (const [, digits = '', unit = ''] of parts) {
    const size = UNIT_SECONDS[unit]
    const amount = readNumberText(digits.replace(',', '.'))
    if (size === undefined || amount === null || size >= last) return null
    // A value in seconds alone is not rounded: `exactDuration` writes those that no format can show.
    if (parts.length === 1 && size === 1) return amount
    last = size
    seconds += amount * size
  }
  return rounded(seconds)
}

function plainSeconds(text: string, format: DurationFormat): number | null {
  const number = readNumberText(text)
  return number === null ? null : rounded(number * (format === 'h:mm' ? 60 : 1))
}

/** Rounds to the millisecond: 1.1 hours are 3960 seconds, not 3960.0000000000005. */
const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000

/** Formats a duration, rounded to the format's precision: `1:30`, `-0:00:01.5`. */
export function showDuration(seconds: number, format: DurationFormat): string {
  const digits = Math.max(0, DURATION_FORMATS.indexOf(format) - 1)
  const unit = format === 'h:mm' ? 60 : 1 / 10 ** digits
  const total = Math.round(Math.abs(seconds) / unit)
  if (!Number.isSafeInteger(total)) return `${seconds}s`
  const sign = seconds < 0 && total > 0 ? '-' : ''
  if (format === 'h:mm') return `${sign}${Math.floor(total / 60)}:${two(total % 60)}`
  const whole = Math.floor(total / 10 ** digits)
  const fraction = digits === 0 ? '' : `.${String(total % 10 ** digits).padStart(digits, '0')}`
  return `${sign}${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`
}

/** The shortest text that parses back to the same duration: as displayed, or with more digits if needed. */
function exactDuration(seconds: number, format: DurationFormat): string {
  const start = DURATION_FORMATS.indexOf(format)
  const shown = DURATION_FORMATS.slice(start).map((each) => showDuration(seconds, each))
  return shown.find((text) => parseDuration(text, format) === seconds) ?? `${seconds}s`
}

const two = (value: number): string => String(value).padStart(2, '0')

/** A duration in seconds, with fractions. */
export const duration = defineFieldType({
  name: 'Duration',
  label: m.field_type_duration,
  group: 'number',
  help: m.field_type_duration_help,
  example: '1:30',
  storage: 'real',
  options: z.object({ format: z._default(z.enum(DURATION_FORMATS), 'h:mm') }),
  filters: 'number',
  summaries: 'number',
  excel: 'text',
  formRules: ['number', 'step'],
  read: readNumber,
  parse: (text, { format }) => parseDuration(text, format),
  format: (value, { format }) => (typeof value === 'number' ? exactDuration(value, format) : ''),
  summaryText: (value, { format }) => showDuration(value, format),
  databaseTypes: { sqlite3: 'decimal', pg: 'decimal' },
})
