import { dayToMs, fromStored, isDay, msToDay, toStored } from '../dates.ts'
import { trimTrailing } from '../trim-characters.ts'

/**
 * Semantics of formulas, the same in every database. `evaluate` and `compile` of each function follow this page;
 * `tests/formula` holds the engines to it, value by value.
 *
 * **Null.** Arithmetic and functions of null give null, with these exceptions. `&`, CONCAT, LEN, SEARCH and
 * REGEX_MATCH read null as empty text. Comparisons never give null: null equals null and the empty text, and is
 * neither before nor after anything. Conditions (IF, AND, OR, XOR) take null, 0, the empty text and an empty date as
 * false and all else as true. ADD, AVG, MIN, MAX, COUNT and COUNTA pass over nulls; ADD of nulls only is 0.
 *
 * **Numbers** are doubles (IEEE 754), whole ones as well. Dividing by 0, the root of a negative number, a
 * logarithm of what is not above 0 and a power without a real result give null. So does a number of 1e35 and
 * more: at the end of a formula, before it becomes text, and wherever the next step could leave the range of
 * doubles; there, one under 1e-35 is 0. A cell of 1e30 and more counts as empty, one under 1e-30 as 0. `%` and MOD
 * have the sign of the first operand, INT rounds down. ROUND and its like look at the first 15 digits:
 * ROUND(1.005, 2) is 1.01; halves go away from zero. LOG, EXP and POWER are those of the engine's mathematical
 * library: their last digit may differ between databases.
 *
 * **Numbers as text** have no exponent, at most 15 digits (whole numbers below 2 ** 53 all of theirs) and at most
 * 20 decimals: `0.3`, `1000000000000000000000`. Truths are `true` and `false`, days `2024-03-05`, instants
 * `2024-03-05 08:20:30` in the formula's zone.
 *
 * **Text** is counted in characters (code points), from 1, and compared by the bytes of its UTF-8. A place before
 * the first counts as the first, a length below 0 as 0; fractions of places and lengths are dropped. UPPER and
 * LOWER change one letter into one, by `letters.ts`; LOWER makes ς of a Σ that ends a word. REPEAT, REPLACE and REGEX_REPLACE give null where the result has more
 * than `MAX_TEXT` characters. VALUE reads `-1.5e3`, with spaces around it; all else is null.
 *
 * **Types.** What is needed as text becomes text; a truth counts as 1 or 0; text never becomes a number but by VALUE.
 * Two values that are compared, or that may both be the result, are taken as they are where their types agree, a
 * truth and a number as numbers, a day and an instant as instants (midnight in the zone), anything else as
 * text. Text that is compared with a number is read as VALUE reads it: the empty text equals an empty number, and text
 * that is no number is neither equal to, nor before or after any. Text written in the formula is a date where a date is needed.
 *
 * **Dates** lie in the years 1 to 9999; a result outside is null. Instants are kept in UTC, and every part of
 * them (day, month, hour, weekday, text) is what clocks in the formula's zone show; from 1970 to 2070 with all
 * clock changes, before and after with the offset that stands at that end. A wall time that a clock shows twice
 * is the first, one that it skips is as much later. DATEADD of months and years keeps the day, or takes the month's
 * last. DATETIME_DIFF is the first less the second, in whole units: exact time up to hours, time on the wall
 * from days on, calendar months from months on.
 *
 * **Zones.** The formula's zone is that of the viewer, UTC in the API. An instant of a field with its own zone, or of SET_TIMEZONE,
 * is looked at in that one, and so is what functions make of it. Among several arguments the first one with a zone
 * determines it, also for days and written dates beside it.
 *
 * **Errors.** A step that fails gives null; ISERROR and IFERROR tell that from a null of its arguments (`failures.ts`).
 *
 * **Lists** have texts as elements: what links, lookups and multi selects show, but nulls. Only functions for lists take them as
 * such; anywhere else a list is the text of its elements, joined by `, `. A list without elements is null. ARRAYSORT compares as
 * text is compared, elements of number fields by their value first. SPLIT gives null for more than `MAX_ELEMENTS` parts.
 *
 * **JSON**: JSON_EXTRACT gives strings without quotes, numbers as written, objects and lists without white space. A step by key finds
 * nothing in a list, a step by place nothing in an object. Of a key that is repeated, engines differ in the one they take.
 *
 * **Regular expressions** are what the engines share: see `pattern.ts`. Text on which a
 * pattern takes more steps than the engine's limit gives null.
 *
 * Numbers from here on are none.
 */
export const LIMIT = 1e35
/** Below this magnitude a number is 0 where it is looked at. */
export const TINY = 1e-35
/** Cells beyond count as empty. */
export const CELL_LIMIT = 1e30
/** Cells below count as 0. */
export const CELL_TINY = 1e-30
/** Most characters that REPEAT, REPLACE and REGEX_REPLACE give. */
export const MAX_TEXT = 100_000
/** Longer than any text: where places and lengths of characters end. */
export const MAX_PLACE = 1_000_000_000
/** Whole numbers below are exact. */
export const EXACT = 2 ** 53

/** The first and the last instant: 0001-01-01 and the end of 9999-12-31. */
export const MIN_MS = -62_135_596_800_000
export const MAX_MS = 253_402_300_799_999
export const DAY_MS = 86_400_000

/** The number, or null where it is beyond the limit; below the least magnitude it is 0. */
export function limited(value: number | null): number | null {
  if (value === null || !(Math.abs(value) < LIMIT)) return null
  return Math.abs(value) < TINY ? 0 : value
}

/** Powers of ten from 0 to 20 that a double holds exactly. */
export const powerOfTen = (exponent: number): number => Number(`1e${exponent}`)

/** Decimals of a number that is not whole, so that it has 15 digits; 20 at most. */
function decimalsOf(magnitude: number): number {
  for (let decimals = 0; decimals < 20; decimals++) {
    if (magnitude >= Number(`1e${14 - decimals}`)) return decimals
  }
  return 20
}

/** A number as text. */
export function numberText(value: number): string {
  const magnitude = Math.abs(value)
  const sign = value < 0 ? '-' : ''
  if (magnitude >= EXACT) {
    let zeros = 1
    while (magnitude / powerOfTen(zeros) >= 1e15) zeros++
    return `${sign}${Math.floor(magnitude / powerOfTen(zeros) + 0.5)}${'0'.repeat(zeros)}`
  }
  if (Number.isInteger(value)) return `${sign}${magnitude}`
  const decimals = decimalsOf(magnitude)
  const scaled = String(Math.floor(magnitude * powerOfTen(decimals) + 0.5)).padStart(decimals + 1, '0')
  const whole = scaled.slice(0, scaled.length - decimals)
  const fraction = trimTrailing(scaled.slice(scaled.length - decimals), '0')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return text === '0' ? text : sign + text
}

/** A whole number between the two, fractions dropped. */
export const whole = (value: number, low: number, high: number): number =>
  value >= high ? high : value <= low ? low : Math.trunc(value)

/** Milliseconds of a stored day or instant; null for anything else. */
export const readDate = (stored: string): number | null =>
  isDay(stored) ? dayToMs(stored) : fromStored(stored)

/** A day or an instant in the form in which a field holds it; null outside the years 1 to 9999. */
export function writeDate(ms: number, type: 'date' | 'datetime'): string | null {
  return type === 'date' ? msToDay(ms) : toStored(ms)
}

/** Milliseconds, or null outside the years 1 to 9999. */
export const dateOrNull = (ms: number): number | null => (ms >= MIN_MS && ms <= MAX_MS ? ms : null)

/** Order of text by its UTF-8 bytes, which is that of its code points. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)]
    // A surrogate stands for a character behind all others, also behind those at the end of the first plane.
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
