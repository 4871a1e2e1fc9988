import { digitsBelowMs, fromStored, resolveZone, wallIn } from '../../../../src/core/dates.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import { escapeXml } from './escape-xml.ts'
import type { ExportContent } from './format.ts'
import { STYLES } from './xlsx-parts.ts'

/** Longest text of a cell (Excel's specifications and limits). */
const MAX_TEXT = 32_767
const DAY_MS = 86_400_000
/** Excel counts days from here; what lies before it is no date there. */
const EPOCH_MS = Date.UTC(1899, 11, 30)
const FIRST_DAY = 61 // 1900-03-01: before it Excel has a day that never was.

/** The cells of a sheet as the text of its rows. */
export function sheetCells({ fields, text, timeZone }: ExportContent) {
  const kinds = fields.map((field) => kindOf(field, timeZone))
  const columns = fields.map((_, at) => columnName(at))

  const inline = (value: string, style: number): Content | null => {
    if (value === '') return null
    // What follows is cut at a whole sign: half of one is no text.
    const cut = value.slice(0, MAX_TEXT)
    return { type: 'inlineStr', style, inner: `<is><t xml:space="preserve">${escapeXml(cut)}</t></is>` }
  }

  /** Cells say where they stand: empty ones are left out. */
  const place = (content: Content | null, at: number, row: number): string => {
    if (content === null) return ''
    const { type, style, inner } = content
    const attributes = `${style === 0 ? '' : ` s="${style}"`}${type === undefined ? '' : ` t="${type}"`}`
    return `<c r="${columns[at]}${row}"${attributes}>${inner}</c>`
  }

  function contentOf(at: number, value: CellValue): Content | null {
    const field = fields[at]
    if (value === null || field === undefined) return null
    return kinds[at]?.(value) ?? inline(text(field, value), STYLES.plain)
  }

  return {
    titles: () => fields.map(({ title }, at) => place(inline(title, STYLES.title), at, 1)).join(''),
    row: (values: CellValue[], row: number) =>
      fields.map((_, at) => place(contentOf(at, values[at] ?? null), at, row)).join(''),
  }
}

interface Content {
  /** Absent: a number. */
  type?: 'inlineStr' | 'b'
  style: number
  inner: string
}

/** `A`, `B`, … `Z`, `AA`, … */
export function columnName(at: number): string {
  const rest = Math.floor(at / 26)
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (at % 26))
}

const numeric = (value: number, style: number = STYLES.plain): Content => ({
  style,
  inner: `<v>${value}</v>`,
})

/** How the values of a field are written where not as text; null from it: this one is text all the same. */
function kindOf(field: Field, timeZone: string): ((value: CellValue) => Content | null) | null {
  const { type, options, isList } = shownType(field)
  if (isList || type.excel === 'text') return null
  switch (type.storage) {
    case 'boolean':
      return (value) => ({
        type: 'b',
        style: STYLES.plain,
        inner: `<v>${value === true || value === 1 ? 1 : 0}</v>`,
      })
    case 'date':
      return (value) => dated(dayNumber(String(value)), STYLES.date)
    case 'datetime': {
      const own = String(options.timeZone ?? 'local')
      const zone = resolveZone(own === 'local' ? timeZone : own)
      return (value) => dated(momentNumber(String(value), zone), STYLES.moment)
    }
    case 'id':
    case 'integer':
    case 'real':
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? numeric(value) : null)
    default:
      return null
  }
}

const dated = (days: number | null, style: number): Content | null =>
  days === null || days < FIRST_DAY ? null : numeric(days, style)

function dayNumber(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? null : (ms - EPOCH_MS) / DAY_MS
}

/** Days since the epoch on the wall clock of a zone: a workbook knows none. */
function momentNumber(stored: string, zone: string): number | null {
  const ms = fromStored(stored)
  if (ms === null) return null
  const { year, month, day, hour, minute, second, ms: rest } = wallIn(ms, zone)
  const belowMs = Number(`0.${digitsBelowMs(stored)}`)
  return (Date.UTC(year, month - 1, day, hour, minute, second, rest) + belowMs - EPOCH_MS) / DAY_MS
}

const _codeOf = (sign: string) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`

const _ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '_x000D_',
}
