/** The decimal separator. */
export type DecimalMark = '.' | ','

const STRICT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Numbers that `Number` parses without loss. */
const PLAIN = /^-?\d{1,15}(?:\.\d{1,15})?$/
const MAX_LENGTH = 400 // 1e308 written out in full has 309 digits

/** A minus sign after an amount with decimals, as SAP and COBOL programs write it; `12-` alone is a code. */
export const TRAILING_MINUS = /^([\d.,'’\s]*[.,]\d+)[-−]$/

/** Thousands separators: spaces of every width and apostrophes (1 234, 1'234). */
const GROUP_SPACES = /[\s\u00a0\u2009\u202f]/g
const APOSTROPHES = /['’]/g

/** Parses plain number text such as `-1.5e3`; null for other text and for integers that a double would round. */
export function readNumberText(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH || !STRICT.test(trimmed)) return null
  const value = Number(trimmed)
  if (!Number.isFinite(value) || !keepsInteger(trimmed, value)) return null
  return value === 0 ? 0 : value
}

/** False if a double would change the integer digits: 9007199254740993 would become …992. */
function keepsInteger(text: string, value: number): boolean {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || /e/i.test(text)) return true
  const [whole = '', fraction = ''] = text.replace(/^\+/, '').split('.')
  if (/[1-9]/.test(fraction)) return false
  const digits = whole.replace(/^(-?)0+(?=\d)/, '$1')
  return digits === String(value) || BigInt(digits) === BigInt(value)
}

/**
 * Parses a number as people write it: `1,234.5`, `1 234,5`, `€ 12`, `42%`, `−3`, `(12)`, `1e3`. Null if any part of the
 * text does not belong to the number. `5.00-` is negative.
 *
 * `1,234` is 1234 and `1.234` is 1.234; `decimal: ','` swaps the two, for editors that know the user's locale.
 */
export function parseNumber(text: string, decimal: DecimalMark = '.'): number | null {
  // Fast path for nearly all numbers in files; the rest of this function takes a microsecond.
  if (decimal === '.' && PLAIN.test(text)) return Number(text) || 0
  if (text.length > MAX_LENGTH) return null
  let rest = text.trim().replace(/[−–]/g, '-').replace(TRAILING_MINUS, '-$1')
  const inBrackets = /^\((.*)\)$/.exec(rest)
  if (inBrackets?.[1] !== undefined) {
    // Accounting notation for negative amounts; a sign inside the brackets is invalid.
    if (/[-+]/.test(inBrackets[1].replace(/e[-+]/i, 'e'))) return null
    rest = `-${inBrackets[1].trim()}`
  }
  const plain = plainNumber(withoutUnits(rest), decimal)
  return plain === null ? null : readNumberText(plain)
}

/**
 * A number as `parseNumber` reads it; a percentage is a share of one, as in spreadsheets: `50%` is 0.5. For all types of numbers
 * but percentages themselves, wherever a text becomes a value: typed, pasted, imported or converted.
 */
export function parseShare(text: string, decimal?: DecimalMark): number | null {
  const value = parseNumber(text, decimal)
  if (value === null || !text.includes('%')) return value
  // 7 by 100 is 0.07, but 0.07 times 100 is not 7: the digits stay as they are.
  return Number.parseFloat((value / 100).toPrecision(15))
}

/** Drops a currency sign at the front (`$`, `US$`) or at the end, and a percent sign at the end, or in front as in Turkish. */
function withoutUnits(text: string): string {
  const [, sign = '', body = ''] = /^([-+]?)(.*)$/s.exec(text) ?? []
  const trimmed = body.trim()
  const front = trimmed.replace(/^(?:[A-Z]{0,2}\p{Sc}|%)\s*(?=[\d.,+-])/u, '')
  const bare = front === trimmed ? trimmed.replace(/(?<=\d)\s*(?:\p{Sc}|%)$/u, '') : front
  return sign !== '' && /^[-+]/.test(bare) ? text : sign + bare
}

/** Normalizes to a decimal point without separators; null if separators are misplaced. */
function plainNumber(text: string, decimal: DecimalMark): string | null {
  const match = /^([-+]?)([\d.,'’\s\u00a0\u2009\u202f]*\d\.?|\d*)(e[-+]?\d+)?$/i.exec(text)
  if (!match) return null
  const [, sign = '', digits = '', exponent = ''] = match
  if (digits === '') return null
  const spaced = digits.replace(APOSTROPHES, ' ').replace(GROUP_SPACES, ' ')
  const point = decimalPoint(spaced, decimal)
  const [whole = '', fraction = ''] = point === null ? [spaced, ''] : splitAtLast(spaced, point)
  if (/\D/.test(fraction)) return null
  const groups = whole.split(/[.,\s]/)
  if (groups.length > 1 && !isGrouped(whole, groups)) return null
  const bare = groups.join('')
  return bare === '' && fraction === '' ? null : `${sign}${bare}.${fraction}0${exponent}`
}

/** The decimal mark in the text; null for integers. */
function decimalPoint(text: string, preferred: DecimalMark): DecimalMark | null {
  const lastPoint = text.lastIndexOf('.')
  const lastComma = text.lastIndexOf(',')
  if (lastPoint >= 0 && lastComma >= 0) return lastPoint > lastComma ? '.' : ','
  const mark = lastPoint >= 0 ? '.' : ','
  const at = Math.max(lastPoint, lastComma)
  if (at < 0) return null
  if (text.indexOf(mark) !== at) return null // several of one kind separate thousands
  // With spaces between thousands, the mark can only be the decimal mark.
  if (mark === preferred || text.includes(' ')) return mark
  return /^[1-9]\d{0,2}.\d{3}$/.test(text) ? null : mark
}

const splitAtLast = (text: string, mark: string): [string, string] => {
  const at = text.lastIndexOf(mark)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Groups of three digits, or Indian groups (1,23,456), all with the same separator. */
function isGrouped(text: string, groups: string[]): boolean {
  if (new Set(text.replace(/\d/g, '')).size !== 1) return false
  const joined = groups.join(',')
  return /^\d{1,3}(?:,\d{3})+$/.test(joined) || /^\d{1,2}(?:,\d{2})+,\d{3}$/.test(joined)
}
