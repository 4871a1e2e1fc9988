import { type SQL, sql } from 'drizzle-orm'
import { digitsBelowMs, fromStored, toStored, withDigitsBelowMs } from '../core/dates.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import { trimTrailing } from '../core/trim-characters.ts'

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
const SECOND_MICROS = 1_000_000

const startsWithDay = (column: SQL): SQL => sql`${column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`

/** `strftime` over any of the forms; NULL for other text. */
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

/** The stored form of a fraction given as nine digits, with the point: none, or 3, 6 or 9 digits. */
const fractionText = (nineDigits: SQL): SQL =>
  sql`(select case significant when 0 then '' else '.' || substr(digits, 1, (significant + 2) / 3 * 3) end
    from (select digits, length(rtrim(digits, '0')) as significant from (select ${nineDigits} as digits)))`

/** Where a fraction begins in ISO 8601 text with seconds: behind `YYYY-MM-DD HH:MM:SS.` or `HH:MM:SS.`. */
const [INSTANT_FRACTION, TIME_FRACTION] = [21, 10]

/** The first nine of the digits that stand in a text from a position on. */
const nineDigits = (column: SQL, from: number): SQL => {
  const tail = sql`substr(${column}, ${sql.raw(String(from))})`
  return sql`substr(substr(${tail}, 1, length(${tail}) - length(ltrim(${tail}, '0123456789'))) || '000000000', 1, 9)`
}

const hasFraction = (column: SQL): SQL =>
  sql`${column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]*'`

/**
 * An instant in its stored form; NULL for what is none. `strftime` has milliseconds alone, so the fraction is taken
 * from the text, or counted from Unix time in microseconds. A Julian day is not exact to more than milliseconds.
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

/** A column's value as a cell. Text that is not a date stays unchanged, so that people see it. */
export function sqliteTemporal(column: SQL, storage: TemporalStorage): SQL {
  switch (storage) {
    case 'datetime':
      return sql`coalesce(${instantText(column)} || '+00:00', ${column})`
    case 'date':
      // The day as it is written, whatever the zone behind it.
      return sql`case when ${startsWithDay(column)} then substr(${column}, 1, 10)
        else coalesce(${formatted('%Y-%m-%d', column)}, ${column}) end`
    case 'time':
      return sql`case when ${column} glob '[0-9][0-9]:[0-9][0-9]' then ${column} || ':00'
        when ${column} glob '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]*' and ltrim(substr(${column}, 10), '0123456789') = ''
        then substr(${column}, 1, 8) || ${fractionText(nineDigits(column, TIME_FRACTION))}
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
function asTime(value: string, sample: string): string {
  if (/^\d\d:\d\d$/.test(sample)) return value.replace(/:00$/, '')
  const [whole, digits = ''] = value.split('.')
  const fraction = /\.(\d+)$/.exec(sample)?.[1] ?? ''
  return digits === '' || fraction === '' ? value : `${whole}.${asLong(digits, fraction)}`
}

/** The digits of a fraction with as many zeros at their end as the sample's length asks for. */
const asLong = (digits: string, sample: string): string =>
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

/** @param isDay true for a column of days, whose zone says nothing about the day */
function inForm(parts: RegExpExecArray, form: RegExpExecArray, isDay: boolean): string {
  const [, between, seconds, fraction = '', space = '', zone = ''] = form
  const offset = isDay || /^z?$/i.test(zone) ? 0 : offsetMinutes(zone)
  const shifted = offset === 0 ? parts : (INSTANT.exec(shiftedBy(parts[0], offset)) ?? parts)
  const [, day = '', hour = '', minute = '', second = '', ms = ''] = shifted
  const isWholeMinute = second === '00' && ms === ''
  if (between === undefined && isWholeMinute && hour === '00' && minute === '00') return day
  const digits = fraction === '' ? ms : asLong(ms, fraction)
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
  const shifted = toStored((fromStored(instant) ?? Number.NaN) + minutes * 60_000)
  return shifted === null ? instant : withDigitsBelowMs(shifted, digitsBelowMs(instant))
}
