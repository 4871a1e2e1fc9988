import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, readFail, readOk } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text.ts'

/** A geometry in well-known text (OGC 06-103r4). */
export const geometry = defineFieldType({
  name: 'Geometry',
  label: m.field_type_geometry,
  group: 'text',
  help: m.field_type_geometry_help,
  example: 'POINT (2.2945 48.8584)',
  storage: 'longText',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  groupable: false,
  noDefault: true,
  read(input) {
    if (input === '') return readOk(null)
    if (typeof input === 'string' && input.length <= MAX_TEXT_LENGTH && isWkt(input))
      return readText(input, MAX_TEXT_LENGTH)
    return readFail(m.value_error_geometry({ value: describeValue(input) }))
  },
  parse: (text) => (text.length <= MAX_TEXT_LENGTH && isWkt(text) ? parseText(text, MAX_TEXT_LENGTH) : null),
  format: formatPlain,
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})

/** Bracket nesting depth around the coordinates of each geometry type. */
const DEPTH: Record<string, number> = {
  POINT: 1,
  LINESTRING: 1,
  CIRCULARSTRING: 1,
  TRIANGLE: 2,
  POLYGON: 2,
  MULTIPOINT: 1,
  MULTILINESTRING: 2,
  MULTIPOLYGON: 3,
  POLYHEDRALSURFACE: 3,
  TIN: 3,
}

const HEAD = /^\s*([A-Z]+)\s*(?:(?:ZM|Z|M)\b\s*)?/i
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i
const MAX_DEPTH = 20

/**
 * True for syntactically valid well-known text: a known geometry type, matching brackets, two to four numbers per
 * position. Does not check that polygons are closed or free of self-intersections.
 */
export function isWkt(text: string): boolean {
  // EWKT starts with the id of the coordinate reference system.
  return isShape(text.replace(/^\s*SRID\s*=\s*\d{1,9}\s*;/i, ''), 0)
}

function isShape(text: string, depth: number): boolean {
  const head = HEAD.exec(text)
  if (!head || depth > MAX_DEPTH) return false
  // `POINTZ` may also be written as one word.
  const kind = (head[1] ?? '').toUpperCase()
  const body = text.slice(head[0].length).trim()
  const bare = kind in DEPTH || kind === 'GEOMETRYCOLLECTION' ? kind : kind.replace(/(?:ZM|Z|M)$/, '')
  if (/^EMPTY$/i.test(body)) return bare in DEPTH || bare === 'GEOMETRYCOLLECTION'
  const inner = inBrackets(body)
  if (inner === null) return false
  if (bare === 'GEOMETRYCOLLECTION') return splitAtCommas(inner).every((part) => isShape(part, depth + 1))
  const levels = DEPTH[bare]
  return levels !== undefined && isNested(inner, levels - 1, bare === 'MULTIPOINT')
}

/** True for positions nested in `levels` more brackets. `MULTIPOINT` allows brackets around each point. */
function isNested(text: string, levels: number, mayBracket: boolean): boolean {
  return splitAtCommas(text).every((part) => {
    const trimmed = part.trim()
    if (levels === 0) {
      const bare = mayBracket ? (inBrackets(trimmed) ?? trimmed) : trimmed
      return isPosition(bare) || (mayBracket && /^EMPTY$/i.test(trimmed))
    }
    if (/^EMPTY$/i.test(trimmed)) return true
    const inner = inBrackets(trimmed)
    return inner !== null && isNested(inner, levels - 1, mayBracket)
  })
}

/** Two to four numbers. */
function isPosition(text: string): boolean {
  const numbers = text.trim().split(/\s+/, 5)
  return numbers.length >= 2 && numbers.length <= 4 && numbers.every((number) => NUMBER.test(number))
}

const inBrackets = (text: string): string | null =>
  text.startsWith('(') && text.endsWith(')') ? text.slice(1, -1) : null

/** Splits at commas outside of brackets. Unbalanced brackets give one empty part, which matches nothing. */
function splitAtCommas(text: string): string[] {
  const found: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '(') depth++
    else if (sign === ')') depth--
    else if (sign === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
    if (depth < 0) return ['']
  }
  return [...found, text.slice(from)]
}
