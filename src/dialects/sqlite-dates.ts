import { type SQL, sql } from 'drizzle-orm'
import { digitsBelowMs, fromStored, toStored, withDigitsBelowMs } from '../core/dates.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import { trimTrailing } from '../core/trim-characters.ts'

/**
 * Dates and times in connected SQLite files. SQLite has no date type: a column declared as DATETIME holds
 * text in any ISO 8601 form, Unix time or a Julian day (https://sqlite.org/lang_datefunc.html). Reading
 * normalizes all of these to the stored form of cells; writing keeps the column's form.
 */

/** Storage kinds of dates, instants and times of day. */
export type TemporalStorage = 'date' | 'datetime' | 'time'

/** Integers from this absolute value on are milliseconds; below it, seconds (up to the year 5138). */
const FROM_MS = 1e11
/** Integers from this absolute value on are microseconds. */
const FROM_MICROS = 1e14
/** Julian days end with the year 9999; a greater real number is Unix time. */
const LAST_JULIAN_DAY = 5_373_484.5
/** Julian day of the Unix epoch. */
const UNIX_JULIAN_DAY = 2_440_587.5

const DAY_MS = 86_400_000
const SECOND_MICROS = 1_000_000

const startsWithDay = (column: SQL): SQL => sql`${column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`

/** `strftime` for any of the forms; NULL for other text. */
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

/** The stored form of a fraction given as nine digits: '' or a point with 3, 6 or 9 digits. */
const fractionText = (nineDigits: SQL): SQL =>
  sql`(select case significant when 0 then '' else '.' || substr(digits, 1, (significant + 2) / 3 * 3) end
    from (select digits, length(rtrim(digits, '0')) as significant from (select ${nineDigits} as digits)))`

/** Position of the fraction in ISO 8601 text: after `YYYY-MM-DD HH:MM:SS.` or `HH:MM:SS.`. */
const [INSTANT_FRACTION, TIME_FRACTION] = [21, 10]

/** The digits from a position on, padded or cut to nine. */
const nineDigits = (column: SQL, from: number): SQL => {
  const tail = sql`substr(${column}, ${sql.raw(String(from))})`
  return sql`substr(substr(${tail}, 1, length(${tail}) - length(ltrim(${tail}, '0123456789'))) || '000000000', 1, 9)`
}

const hasFraction = (column: SQL): SQL =>
  sql`${column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]*'`

/**
 * An instant in its stored form; NULL for other values. `strftime` is limited to milliseconds, so the fraction is taken
 * from the text, or from Unix time in microseconds. Julian days are only precise to milliseconds.
 */
function instantText(column: SQL): SQL {
  const seconds = (value: SQL) => sql`strftime('%Y-%m-%d %H:%M:%S', ${value})`
  const withoutFraction = sql`substr(${column}, 1, 19) || ltrim(substr(${column}, 21), '0123456789')`
  const text = sql`case when ${hasFraction(column)}
    then ${seconds(withoutFraction)} || ${fractionText(nineDigits(column, INSTANT_FRACTION))}
    when ${startsWithDay(column)} then ${seconds(column)} end`
  const size = sql`abs(${column})`
  const scaled = (micros: (factor: string) => SQL) =>
    sql`case when ${size} < ${sql.raw(String(FROM_MS))} then ${micros('1000000')}
      when ${size} < ${sql.raw(String(FROM_MICROS))} then ${micros('1000')} else ${micros('1')} end`
  const ofUnixTime = (micros: SQL) => {
    const count = sql.raw(String(SECOND_MICROS))
    const rest = sql`((micros % ${count} + ${count}) % ${count})`
    return sql`(select ${seconds(sql`(micros - ${rest}) / ${count}, 'unixepoch'`)} || ${fractionText(sql`printf('%06d000', ${rest})`)}
      from (select ${micros} as micros))`
  }
  const whole = scaled((factor) => sql`${column} * ${sql.raw(factor)}`)
  const real = scaled((factor) => sql`cast(round(${column} * ${sql.raw(`${factor}.0`)}) as integer)`)
  const julian = sql`replace(strftime('%Y-%m-%d %H:%M:%f', ${column}), '.000', '')`
  return sql`case typeof(${column}) when 'text' then ${text} when 'integer' then ${ofUnixTime(whole)}
    when 'real' then case when ${column} between 0 and ${sql.raw(String(LAST_JULIAN_DAY))} then ${julian}
      else ${ofUnixTime(real)} end end`
}

/** A column's value as a cell. Text that is not a date stays visible, unchanged. */
export function sqliteTemporal(column: SQL, storage: TemporalStorage): SQL {
  switch (storage) {
    case 'datetime':
      return sql`coalesce(${instantText(column)} || '+00:00', ${column})`
    case 'date':
      // The day as written, whatever the zone after it.
      return sql`case when ${startsWithDay(column)} then substr(${column}, 1, 10)
        else coalesce(${formatted('%Y-%m-%d', column)}, ${column}) end`
    case 'time':
      return sql`case when ${column} glob '[0-9][0-9]:[0-9][0-9]' then ${column} || ':00'
        when ${column} glob '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]*' and ltrim(substr(${column}, 10), '0123456789') = ''
        then substr(${column}, 1, 8) || ${fractionText(nineDigits(column, TIME_FRACTION))}
        when ${column} glob '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].*' then substr(${column}, 1, 8) else ${column} end`
  }
}

/** A stored value as `exactText` returns it: its SQLite type and its text. */
const STORED = /^(text|integer|real):(.*)$/s

const ISO = /^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?(?:\.(\d{1,9}))?(\s*)(Z|[+-]\d\d:\d\d)?)?$/i

/** The form of SQLite's own `datetime()`. */
const PLAIN = ISO.exec('2000-01-01 00:00:00') as RegExpExecArray

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?\+00:00$/

/**
 * Converts a cell's value to the form of `sample`, another value of the column from `exactText`. Without a
 * sample, instants are written like SQLite's `datetime()`: in UTC, without a zone. Never loses information:
 * adds the time, seconds or fraction if the form lacks them.
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

/** `09:30` for a column without seconds, unless the value has seconds. */
function asTime(value: string, sample: string): string {
  if (/^\d\d:\d\d$/.test(sample)) return value.replace(/:00$/, '')
  const [whole, digits = ''] = value.split('.')
  const fraction = /\.(\d+)$/.exec(sample)?.[1] ?? ''
  return digits === '' || fraction === '' ? value : `${whole}.${padded(digits, fraction)}`
}

/** Pads a fraction with zeros to the sample's length. */
const padded = (digits: string, sample: string): string =>
  trimTrailing(digits, '0').padEnd(sample.length, '0')

function asNumber(instant: string, type: string, sample: number): number {
  const ms = fromStored(instant) ?? Number.NaN
  const micros = Number(digitsBelowMs(instant).slice(0, 3))
  if (type === 'real' && sample >= 0 && sample <= LAST_JULIAN_DAY)
    return (ms + micros / 1000) / DAY_MS + UNIX_JULIAN_DAY
  const size = Math.abs(sample)
  if (size >= FROM_MICROS) return ms * 1000 + micros
  if (size >= FROM_MS) return ms + micros / 1000
  return (ms * 1000 + micros) / SECOND_MICROS
}

/** @param isDay true for date columns, whose zone does not affect the day */
function inForm(parts: RegExpExecArray, form: RegExpExecArray, isDay: boolean): string {
  const [, between, seconds, fraction = '', space = '', zone = ''] = form
  const offset = isDay || /^z?$/i.test(zone) ? 0 : offsetMinutes(zone)
  const shifted = offset === 0 ? parts : (INSTANT.exec(shiftedBy(parts[0], offset)) ?? parts)
  const [, day = '', hour = '', minute = '', second = '', ms = ''] = shifted
  const isWholeMinute = second === '00' && ms === ''
  if (between === undefined && isWholeMinute && hour === '00' && minute === '00') return day
  const digits = fraction === '' ? ms : padded(ms, fraction)
  const hasSeconds = seconds !== undefined || between === undefined || !isWholeMinute
  const tail = `${hasSeconds ? `:${second}` : ''}${digits === '' ? '' : `.${digits}`}`
  return `${day}${between ?? ' '}${hour}:${minute}${tail}${space}${zone}`
}

const offsetMinutes = (zone: string): number => {
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number)
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** The wall time of an instant at an offset in minutes, in the same text form. */
function shiftedBy(instant: string, minutes: number): string {
  const shifted = toStored((fromStored(instant) ?? Number.NaN) + minutes * 60_000)
  return shifted === null ? instant : withDigitsBelowMs(shifted, digitsBelowMs(instant))
}
