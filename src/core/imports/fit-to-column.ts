import {
  fractionLimit,
  lengthLimit,
  numberRange,
  readLong,
  withinColumn,
  withinFraction,
  withinRange,
} from '../fields/column-limits.ts'
import { type CellValue, type Read, readOk } from '../fields/field-type.ts'
import type { FieldTypeName } from '../fields/index.ts'
import type { DecimalMark } from '../fields/number-text.ts'
import { m } from '../messages.gen.ts'

/** A column of a connected database. */
export interface ConnectedColumn {
  databaseType: string
  /** True if the database keeps to the sizes that columns declare. */
  keepsToTypes: boolean
}

/** Reads the cells of a file for a column. */
export interface FittingReader {
  /** The value as text; null if the cell has none that the column takes. */
  read(text: string): CellValue
  /** Why `read` gave null; null for the general reason. */
  reasonFor(text: string): string | null
  /** What a report says of a value that is kept, if anything. */
  noteFor(text: string): string | null
}

const DECIMAL = /^(?:numeric|decimal)\s*\(\d+(?:,\s*(\d+))?\)/i

/**
 * Reads cells for a column of a connected database, as the write door checks its values: within the column's length, range
 * and precision. Values are staged as text, because the home's columns hold fewer digits than some of these.
 */
export function fitToColumn(
  type: FieldTypeName,
  { databaseType, keepsToTypes }: ConnectedColumn,
  parse: (text: string) => CellValue,
  decimal: DecimalMark,
): FittingReader {
  const field = { type, databaseType }
  const limits = {
    length: lengthLimit(field),
    range: numberRange(field),
    fraction: fractionLimit(field),
    scale: keepsToTypes ? scaleOf(databaseType) : null,
  }

  /** The number as the database gets it; other text unchanged. */
  function plainOf(text: string): string {
    // A percentage may be a share of one.
    const share = text.includes('%') ? parse(text) : null
    return typeof share === 'number' ? String(share) : withPoint(text.trim(), decimal)
  }

  function read(text: string): Read | null {
    const plain = plainOf(text)
    const rounded = limits.scale === null ? plain : roundDecimal(plain, limits.scale)
    const long = readLong(field, rounded)
    const value = long ?? asRead(parse(rounded === plain ? text : withMark(rounded, decimal)))
    if (value === null || !keepsToTypes) return value
    return withinFraction(
      field,
      limits.fraction,
      withinRange(limits.range, withinColumn(limits.length, value)),
    )
  }

  return {
    read(text) {
      const found = read(text)
      return found?.ok ? asText(found.value) : null
    },
    reasonFor(text) {
      const found = read(text)
      return found && !found.ok ? found.message : null
    },
    noteFor(text) {
      if (limits.scale === null) return null
      const plain = plainOf(text)
      if (roundDecimal(plain, limits.scale) === plain) return null
      return m.import_rounded({ max: limits.scale })
    },
  }
}

const asRead = (value: CellValue): Read | null => (value === null ? null : readOk(value))

/** Every engine stores the same text; numbers would take its own format. */
const asText = (value: CellValue): CellValue => (value === null ? null : String(value))

/** A number without groups with a decimal point; other text unchanged. */
const withPoint = (text: string, decimal: DecimalMark): string =>
  decimal === ',' && /^[-+]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text

const withMark = (text: string, decimal: DecimalMark): string =>
  decimal === ',' ? text.replace('.', ',') : text

/** Digits after the point that a decimal column keeps; null for other types. */
function scaleOf(databaseType: string): number | null {
  const [whole, scale = '0'] = DECIMAL.exec(databaseType) ?? []
  return whole === undefined ? null : Number(scale)
}

/**
 * Rounds a plain number half away from zero, as databases do; returns other text, and numbers with fewer digits, unchanged.
 *
 * @example roundDecimal('2.675', 2) // '2.68'
 */
export function roundDecimal(text: string, scale: number): string {
  const [whole, sign = '', digits = '', fraction = ''] = /^([-+]?)(\d+)\.(\d+)$/.exec(text) ?? []
  if (whole === undefined || !/[1-9]/.test(fraction.slice(scale))) return text
  const kept = BigInt(digits + fraction.slice(0, scale)) + (fraction.charAt(scale) >= '5' ? 1n : 0n)
  const all = String(kept).padStart(scale + 1, '0')
  const point = scale === 0 ? '' : `.${all.slice(-scale)}`
  return `${sign}${all.slice(0, all.length - scale)}${point}`
}
