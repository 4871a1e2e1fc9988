import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../core/fields/field-type.ts'

/**
 * Dates and times in SQLite files of others. SQLite has no date type: a column declared as DATETIME holds text in
 * any ISO 8601 form, Unix time or a Julian day (https://sqlite.org/lang_datefunc.html). Reading normalizes
 * all of these to the form that cells have; writing keeps the form that the column has.
 */

/** Kinds of storage that hold a point in time or a part of one. */
export type TemporalStorage = 'date' | 'datetime' | 'time'

/** From this absolute value on an integer counts milliseconds; below it, seconds (which lasts until the year 5138). */
const FROM_MS = 1e11
/** From this absolute value on an integer counts microseconds. */
const FROM_MICROS = 1e14
/** Julian days end with the year 9999; a greater real number is Unix time. */
const LAST_JULIAN_DAY = 5_373_484.5
/** The Julian day on which Unix time begins. */
const UNIX_JULIAN_DAY = 2_440_587.5

const DAY_MS = 86_400_000

const startsWithDay = (column: SQL): SQL => sql`${column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`

/** `strftime` over any of the forms; NULL for what is none of them. */
function formatted(format: string, column: SQL): SQL {
  const written = (value: SQL) => sql`strftime(${sql.raw(`'${format}'`)}, ${value})`
  const seconds = sql`case when abs(${column}) < ${sql.raw(String(FROM_MS))} then ${column}
    when abs(${column}) < ${sql.raw(String(FROM_MICROS))} then ${column} / 1000.0 else ${column} / 1000000.0 end`
  const epoch = written(sql`${seconds}, 'unixepoch'`)
  return sql`case typeof(${column})
    when 'text' then case when ${startsWithDay(column)} then ${written(column)} end
    when 'integer' then ${epoch}
    when 'real' then case when ${column} between 0 and ${sql.raw(String(LAST_JULIAN_DAY))} then ${written(column)} else ${epoch} end
    end`
}

/** A column as cells have it. Text that is no date stays as it is, so that people see it. */
export function sqliteTemporal(column: SQL, storage: TemporalStorage): SQL {
  switch (storage) {
    case 'datetime': {
      const text = sql`${formatted('%Y-%m-%d %H:%M:%f', column)} || '+00:00'`
      return sql`coalesce(replace(${text}, '.000+00:00', '+00:00'), ${column})`
    }
    case 'date':
      // The day as it is written, whatever the zone behind it.
      return sql`case when ${startsWithDay(column)} then substr(${column}, 1, 10)
        else coalesce(${formatted('%Y-%m-%d', column)}, ${column}) end`
    case 'time':
      return sql`case when ${column} glob '[0-9][0-9]:[0-9][0-9]' then ${column} || ':00'
        when ${column} glob '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].*' then substr(${column}, 1, 8) else ${column} end`
  }
}

/** How a value stands in a file: its SQLite type and its text, as `exactText` gives them. */
const STORED = /^(text|integer|real):(.*)$/s

const ISO = /^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?(?:\.(\d{1,9}))?(\s*)(Z|[+-]\d\d:\d\d)?)?$/i

/** The form of SQLite's own `datetime()`. */
const PLAIN = ISO.exec('2000-01-01 00:00:00') as RegExpExecArray

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?\+00:00$/

/**
 * A cell's value in the form of `sample`, a value of the same column as `exactText` gives it. Without one an
 * instant is written as SQLite's own `datetime()` does: in UTC, without a zone. Nothing of the value is lost: where
 * the form has no room for the time, the seconds or their fraction, these are added.
 */
export function sqliteTemporalValue(
  value: CellValue,
  storage: TemporalStorage,
  sample: string | null,
): CellValue {
  if (typeof value !== 'string') return value
  const [, type, text = ''] = STORED.exec(sample ?? '') ?? []
  if (storage === 'time') return type === 'text' ? asTime(value, text) : value
  const instant = storage === 'date' ? `${value} 00:00:00+00:00` : value
  const parts = INSTANT.exec(instant)
  if (!parts) return value
  if (type === 'integer' || type === 'real') return asNumber(instant, type, Number(text))
  const form = ISO.exec(text)
  if (storage === 'date' && form === null) return value
  return inForm(parts, form ?? PLAIN, storage === 'date')
}

/** `09:30` in a column that has no seconds, as long as the value has none either. */
const asTime = (value: string, sample: string): string =>
  /^\d\d:\d\d$/.test(sample) ? value.replace(/:00$/, '') : value

function asNumber(instant: string, type: string, sample: number): number {
  const ms = Date.parse(instant.replace(' ', 'T'))
  if (type === 'real') {
    const isJulian = sample >= 0 && sample <= LAST_JULIAN_DAY
    return isJulian ? ms / DAY_MS + UNIX_JULIAN_DAY : ms / 1000
  }
  const size = Math.abs(sample)
  if (size >= FROM_MICROS) return ms * 1000
  return size >= FROM_MS ? ms : ms / 1000
}

/** @param isDay true for a column of days, whose zone says nothing about the day */
function inForm(parts: RegExpExecArray, form: RegExpExecArray, isDay: boolean): string {
  const [, between, seconds, fraction = '', space = '', zone = ''] = form
  const offset = isDay || /^z?$/i.test(zone) ? 0 : offsetMinutes(zone)
  const shifted = offset === 0 ? parts : (INSTANT.exec(shiftedBy(parts[0], offset)) ?? parts)
  const [, day = '', hour = '', minute = '', second = '', ms = ''] = shifted
  const isWholeMinute = second === '00' && ms === ''
  if (between === undefined && isWholeMinute && hour === '00' && minute === '00') return day
  const digits = ms.padEnd(fraction.length, '0')
  const hasSeconds = seconds !== undefined || between === undefined || !isWholeMinute
  const tail = `${hasSeconds ? `:${second}` : ''}${digits === '' ? '' : `.${digits}`}`
  return `${day}${between ?? ' '}${hour}:${minute}${tail}${space}${zone}`
}

const offsetMinutes = (zone: string): number => {
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number)
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** The reading of a clock that is so many minutes ahead of UTC, in the same text form. */
function shiftedBy(instant: string, minutes: number): string {
  const iso = new Date(Date.parse(instant.replace(' ', 'T')) + minutes * 60_000).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 23).replace(/\.000$/, '')}+00:00`
}
