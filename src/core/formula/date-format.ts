import { MONTHS, makeDay, utcOf } from '../dates.ts'
import { trimCharacters } from '../trim-characters.ts'

/** Parts of a date that a format can name. */
export type DatePart =
  | 'year'
  | 'shortYear'
  | 'month'
  | 'monthName'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'ms'
  | 'half'

/** A regular expression for a text in small letters that also matches its capitals. */
const inAnyCase = (text: string): string =>
  text.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)

/** The tokens of formats, each with a regular expression for its text. */
const TOKENS: Record<string, { part: DatePart; source: string; hasAnyLength?: true }> = {
  YYYY: { part: 'year', source: '[0-9]{4}' },
  YY: { part: 'shortYear', source: '[0-9]{2}' },
  MMMM: { part: 'monthName', source: inAnyCase(MONTHS.join('|')) },
  MMM: { part: 'monthName', source: inAnyCase(MONTHS.map((name) => name.slice(0, 3)).join('|')) },
  MM: { part: 'month', source: '0[1-9]|1[0-2]' },
  M: { part: 'month', source: '0?[1-9]|1[0-2]', hasAnyLength: true },
  DD: { part: 'day', source: '0[1-9]|[12][0-9]|3[01]' },
  D: { part: 'day', source: '0?[1-9]|[12][0-9]|3[01]', hasAnyLength: true },
  HH: { part: 'hour', source: '[01][0-9]|2[0-3]' },
  H: { part: 'hour', source: '[01]?[0-9]|2[0-3]', hasAnyLength: true },
  hh: { part: 'hour', source: '0[1-9]|1[0-2]' },
  h: { part: 'hour', source: '0?[1-9]|1[0-2]', hasAnyLength: true },
  mm: { part: 'minute', source: '[0-5][0-9]' },
  m: { part: 'minute', source: '[0-5]?[0-9]', hasAnyLength: true },
  s: { part: 'second', source: '[0-5]?[0-9]', hasAnyLength: true },
  ss: { part: 'second', source: '[0-5][0-9]' },
  SSS: { part: 'ms', source: '[0-9]{3}' },
  A: { part: 'half', source: '[AaPp][Mm]' },
  a: { part: 'half', source: '[AaPp][Mm]' },
}

const PIECES = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|m|ss|s|SSS|A|a|\[[^\]]*\]|[\s\S]/g
const MAX_FORMAT = 40
/** Two-digit years up to this one are in this century, as in date fields. */
export const LAST_SHORT_YEAR = 68
/** The first three letters of the names of months, joined. */
export const MONTH_NAMES = MONTHS.map((name) => name.slice(0, 3)).join('')

/** Literal text or a token. */
type FormatPiece = { literal: string } | { part: DatePart; token: string }

/** A parsed format. */
export interface DateFormat {
  /** The format’s text, e.g. `DD.MM.YYYY`. */
  text: string
  pieces: readonly FormatPiece[]
  /** A regular expression without anchors that works the same in all engines, with one group per part. */
  source: string
  /** The parts in the order of their groups. */
  parts: readonly DatePart[]
  /** True if the format has a time of day: the result is an instant. */
  hasTime: boolean
}

/** Parses a format such as `DD.MM.YYYY HH:mm`; null if it is invalid or does not determine a date. */
function readDateFormat(text: string): DateFormat | null {
  if (text.length > MAX_FORMAT) return null
  const pieces: FormatPiece[] = []
  for (const piece of text.match(PIECES) ?? []) {
    const token = TOKENS[piece]
    const isQuoted = piece.length > 1 && piece.startsWith('[')
    // Other letters are probably an unknown token, except for the T of ISO 8601.
    if (!token && !isQuoted && /[A-SU-Za-z]/.test(piece)) return null
    const literal = isQuoted ? piece.slice(1, -1) : piece
    if (!token && /[0-9\\]/.test(literal)) return null
    pieces.push(token ? { part: token.part, token: piece } : { literal })
  }
  const tokens = pieces.flatMap((piece) => ('part' in piece ? [piece] : []))
  const parts = tokens.map(({ part }) => part)
  const isTwelveHours = tokens.some(({ token }) => token === 'h' || token === 'hh')
  if (!arePartsSound(parts, isTwelveHours) || !arePartsApart(pieces)) return null
  const source = pieces
    .map((piece) => ('part' in piece ? `(${TOKENS[piece.token]?.source})` : escaped(piece.literal)))
    .join('')
  return { text, pieces, source, parts, hasTime: parts.includes('hour') }
}

/** True if literal text separates tokens of variable length, such as `D`, from their neighbours. */
function arePartsApart(pieces: readonly FormatPiece[]): boolean {
  const isPart = (piece: FormatPiece | undefined) => piece !== undefined && 'part' in piece
  return !pieces.some(
    (piece, index) =>
      'part' in piece &&
      TOKENS[piece.token]?.hasAnyLength === true &&
      (isPart(pieces[index - 1]) || isPart(pieces[index + 1])),
  )
}

/** True if each part occurs once and has the larger parts that it needs, e.g. a minute has an hour. */
function arePartsSound(parts: readonly DatePart[], isTwelveHours: boolean): boolean {
  const has = (part: DatePart) => parts.includes(part)
  return (
    new Set(parts).size === parts.length &&
    has('year') !== has('shortYear') &&
    !(has('month') && has('monthName')) &&
    (!has('day') || has('month') || has('monthName')) &&
    has('half') === isTwelveHours &&
    (!has('minute') || has('hour')) &&
    (!has('second') || has('minute')) &&
    (!has('ms') || has('second'))
  )
}

const escaped = (text: string): string => text.replace(/[\^$.*+?()[\]{}|/]/g, '\\$&')

/**
 * Parses a text in the format as wall time in milliseconds; null if it does not match or is not a calendar day.
 * Missing parts default to January, the first day, and midnight.
 */
export function parseDate(written: string, format: DateFormat): number | null {
  const text = trimCharacters(written, ' ')
  const match = expressionOf(format).exec(text)
  if (!match) return null
  const textOf = (part: DatePart): string | undefined => match[format.parts.indexOf(part) + 1]
  const number = (part: DatePart, otherwise: number) =>
    format.parts.includes(part) ? Number(textOf(part)) : otherwise
  const short = number('shortYear', 0)
  const year = format.parts.includes('year')
    ? number('year', 0)
    : short + (short > LAST_SHORT_YEAR ? 1900 : 2000)
  const name = format.parts.includes('monthName') ? String(textOf('monthName')).slice(0, 3) : null
  const month = name === null ? number('month', 1) : MONTH_NAMES.indexOf(name.toLowerCase()) / 3 + 1
  const day = number('day', 1)
  if (makeDay(year, month, day) === null) return null
  const half = textOf('half')
  const hour = format.parts.includes('half')
    ? (number('hour', 0) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0)
    : number('hour', 0)
  return utcOf({
    year,
    month,
    day,
    hour,
    minute: number('minute', 0),
    second: number('second', 0),
    ms: number('ms', 0),
  })
}

const expressions = new WeakMap<DateFormat, RegExp>()

function expressionOf(format: DateFormat): RegExp {
  const known = expressions.get(format)
  if (known) return known
  const made = new RegExp(`^${format.source}$`)
  expressions.set(format, made)
  return made
}

const formats = new Map<string, DateFormat | null>()
const KEPT_FORMATS = 200

/** As `readDateFormat`, with a cache. */
export function dateFormatOf(text: string): DateFormat | null {
  const known = formats.get(text)
  if (known !== undefined) return known
  if (formats.size >= KEPT_FORMATS) formats.clear()
  const format = readDateFormat(text)
  formats.set(text, format)
  return format
}
