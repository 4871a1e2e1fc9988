import { parseDay } from './date-text.ts'
import { asRead } from './day-reading.ts'
import { withoutTime } from './instant-text.ts'
import { foldMonth, MONTH_LANGUAGES } from './month-names.ts'

/*
 * Names of weekdays in many languages. The name beside a day only confirms it: where it contradicts, it stays.
 */

/** Languages without names of months, which write them as numbers, or with calendars of their own. */
const WITHOUT_MONTHS = ['ja', 'ko', 'zh', 'zh-TW', 'zh-HK', 'vi']

/** A Sunday. */
const SUNDAY = Date.UTC(2023, 0, 1)

/** Weekdays, from 0 for Sunday, with their languages, by their folded names; read when a text needs them. */
let names: Map<string, { language: string; weekday: number }[]> | null = null

function readNames(): Map<string, { language: string; weekday: number }[]> {
  const found = new Map<string, { language: string; weekday: number }[]>()
  for (const language of [...MONTH_LANGUAGES, ...WITHOUT_MONTHS]) {
    if (Intl.DateTimeFormat.supportedLocalesOf(language).length === 0) continue
    for (const style of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' })
      for (let weekday = 0; weekday < 7; weekday++) {
        const name = foldMonth(format.format(SUNDAY + weekday * 86_400_000))
        found.set(name, [...(found.get(name) ?? []), { language, weekday }])
      }
    }
  }
  return found
}

/** Longest day with a weekday that is read, and the longest name of a weekday. */
const MAX_LENGTH = 64
const MAX_NAME = 24

/** Two letters, or one in brackets. */
const HAS_NAME = /\p{L}[\p{L}\p{M}]|[(（]\p{L}/u

/** `2023年1月3日(火)` */
const IN_BRACKETS = /[(（]([\p{L}\p{M}]{1,24})[)）]/u

/** The ways to take a weekday off a text: the name, and the rest. */
function* splits(text: string): Generator<[name: string, rest: string]> {
  const bracket = IN_BRACKETS.exec(text)
  if (bracket?.[1])
    yield [bracket[1], text.slice(0, bracket.index) + text.slice(bracket.index + bracket[0].length)]
  const comma = text.search(/[,،]/)
  if (comma > 0) yield [text.slice(0, comma), text.slice(comma + 1)]
  const digit = text.search(/\d/)
  if (digit > 0) yield [text.slice(0, digit).replace(/ den $/, ''), text.slice(digit)]
  const last = Math.max(text.lastIndexOf(','), text.lastIndexOf('،'))
  if (last > 0) yield [text.slice(last + 1), text.slice(0, last)]
  let end = text.length
  while (end > 0 && !/\d/.test(text[end - 1] ?? '')) end--
  if (/[日일]/.test(text[end] ?? '')) end++
  if (end < text.length) yield [text.slice(end), text.slice(0, end)]
}

/**
 * A day without its weekday, in a notation that `parseDay` knows, if the day is certain and falls on that weekday; null for other
 * text.
 *
 * @param toPlain the notation of a day without a weekday
 */
export function dayOfWeekday(text: string, toPlain: (text: string) => string): string | null {
  if (!HAS_NAME.test(text) || text.length > MAX_LENGTH || !/\d{4}/.test(text)) return null
  for (const [name, rest] of splits(text)) {
    const word = name.trim()
    if (word === '' || word.length > MAX_NAME || /\d/.test(word)) continue
    names ??= readNames()
    const days = new Set<string>()
    for (const { language, weekday } of names.get(foldMonth(word)) ?? []) {
      const day = asRead(toPlain(rest.trim()), { monthLanguage: language })
      if (weekdayOf(withoutTime(day)) === weekday) days.add(day)
    }
    const [day] = days
    if (day !== undefined && days.size === 1) return day
  }
  return null
}

/** The weekday of a day whose order is certain; null for other text. */
function weekdayOf(text: string): number | null {
  const day = parseDay(text, 'DD/MM/YYYY')
  return day === null || day !== parseDay(text, 'MM/DD/YYYY') ? null : new Date(day).getUTCDay()
}
