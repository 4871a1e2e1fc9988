import { trimTrailing } from '../trim-characters.ts'
import { withoutTime } from './instant-text.ts'

/*
 * Days and times with the order, marks and words of other languages: `2024. gada 13. marts`, `13. 3. 2024 klo 14.35`. They are
 * rewritten as `13 marts 2024` and `13.3.2024 14:35`, which `parseDay` and `parseInstant` know. `date-text.ts` knows the months.
 */

/**
 * Words beside the parts of a day, without dots: prepositions, and those for year, month and day. In Catalan and Galician;
 * Bulgarian, Russian and Ukrainian; Latvian; Lithuanian; Kazakh; Armenian; Vietnamese; Mongolian; Maltese; Hausa.
 */
const DAY_WORDS = new Set('de del г р gada m d ж թ ngày tháng thg năm оны сарын ta’ ga'.split(' '))
/** Prepositions that are written together with the month: Catalan `d’abril`, Hebrew `במרץ`. */
const MONTH_PREFIX = /^(?:d['’]|ב)(?=\p{L})/u

/** `13. 3. 2024`, `13. 03. 2024.`, `13.3.2024.`: Czech, Slovak, Slovene, Croatian, Serbian. */
const DOTTED = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\.?$/
/** Marks after a part: those of Arabic, Burmese, Hebrew and Hindi as well. */
const PART_MARKS = '.,،၊׳॰'
/** Day, month and year among the parts of a day, by the kinds of these: `n`umber, `y`ear, other `t`ext such as a month. */
const ORDERS: Record<string, number[]> = { nty: [0, 1, 2], ynt: [1, 2, 0], ytn: [2, 1, 0] }
/** Those of days that had words, such as `13 tháng 3, 2024` and `13.03.24 г.`. */
const ORDERS_WITH_WORDS: Record<string, number[]> = { ...ORDERS, nny: [0, 1, 2], ynn: [2, 1, 0], t: [0] }

/**
 * Words beside a time, without dots and spaces, by the half of the day that they name. Those of no half are Finnish, Danish,
 * Bosnian and Macedonian, the others English and Spanish, Greek, Arabic, Malay, Albanian, Chinese, Japanese and Korean.
 */
const HALVES = {
  '': 'klo kl u во',
  ' am': 'am πμ ص pg pd 上午 午前 오전',
  ' pm': 'pm μμ م ptg md 下午 午後 오후',
}
const TIME_WORDS = new Map(
  Object.entries(HALVES).flatMap(([half, words]) => words.split(' ').map((word) => [word, half] as const)),
)
/** A trailing time: `, 14.35`, `14 h 35`, `klo 14.35`, `2:35 p. m.`, `下午2:35`. */
const TIME =
  /[,،]? (?:(\p{L}{1,3})\.? ?)?(\d{1,2})(?:[:.]| ?h ?)(\d{2})(?:[:.](\d{2}))?(?: ?(\p{L}[\p{L}. ]{0,5}))?$/u

/** Longest day with a time that is read. */
const MAX_LENGTH = 64
/** Needs no rewriting: text without digits, and `2024-03-13T14:35:00.5Z`, `13/3/2024 14:35`, `13.03.2024`, `13-Mar-24`. */
const PLAIN =
  /^(?:\D*|\d{4}-[\dTZ:.+-]*|[\d/-]*|\d{1,2}\.\d{1,2}\.\d{2,4}|\d{1,2}[ /-][a-z]{3}[ /-]\d{2,4})(?: \d{1,2}:[\d:.+-]*Z?)?$/i

/** A day, with or without a time, in an order and with marks that `parseInstant` knows; other text as it is. */
export function withPlainParts(text: string): string {
  if (text.length > MAX_LENGTH || PLAIN.test(text)) return text
  const timed = withPlainTime(text.replace(/[\u00a0\u202f]/g, ' '))
  const day = withoutTime(timed)
  return withPlainOrder(day) + timed.slice(day.length)
}

const withPlainTime = (text: string): string =>
  text.replace(TIME, (all, before: string, hour: string, minute: string, second: string, after: string) => {
    const words = [before, after].filter((word) => word !== undefined)
    const halves = words.map((word) => TIME_WORDS.get(word.replace(/[. ]/g, '').toLowerCase()))
    if (halves.includes(undefined)) return all
    return ` ${[hour, minute, second].filter((part) => part !== undefined).join(':')}${halves.join('')}`
  })

function withPlainOrder(day: string): string {
  if (DOTTED.test(day)) return day.replace(DOTTED, '$1.$2.$3')
  const written = day.split(/ |-(?=\p{L})/u)
  const parts = written
    .map((part) => trimTrailing(part, PART_MARKS))
    .filter((part) => !DAY_WORDS.has(part.toLowerCase()))
    .map((part) => part.replace(MONTH_PREFIX, ''))
  const kinds = parts
    .map((part) => (/^\d{4}$/.test(part) ? 'y' : /^\d{1,2}$/.test(part) ? 'n' : 't'))
    .join('')
  const order = (parts.length < written.length ? ORDERS_WITH_WORDS : ORDERS)[kinds]
  return order?.map((at) => parts[at]).join(kinds.includes('t') ? ' ' : '.') ?? day
}
