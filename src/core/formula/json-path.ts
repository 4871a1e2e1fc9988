import { CLOSE_LIST, CLOSE_OBJECT, endOfString, isJson, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../json-text.ts'

/** Where a value is in JSON: keys of objects and places in lists, counted from 0. */
export type JsonPath = readonly (string | number)[]

/** One step: `.name`, `."any name"`, `["any name"]` or `[0]`. */
const STEP = /\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]|\."((?:[^"\\]|\\.)*)"|\.([^.[\]"\s]+)/y

const MAX_STEPS = 20

/**
 * Reads a path such as `.size.width`, `.items[0]."unit price"` or `$.size`; null for anything else. `.` and `$` are the
 * whole value.
 */
export function readJsonPath(written: string): JsonPath | null {
  const text = written.trim().replace(/^\$/, '')
  if (text === '' || text === '.') return written.trim() === '' ? null : []
  const whole = text.startsWith('.') || text.startsWith('[') ? text : `.${text}`
  const path: (string | number)[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < whole.length) {
    const [, index, bracketed, quoted, plain] = STEP.exec(whole) ?? []
    const key = bracketed ?? quoted
    if (index !== undefined) path.push(Number(index))
    else if (plain !== undefined) path.push(plain)
    else if (key !== undefined && isJson(`"${key}"`)) path.push(JSON.parse(`"${key}"`))
    else return null
  }
  return path.length > MAX_STEPS ? null : path
}

/** Escapes of U+0000 and of halves of characters, which PostgreSQL cannot hold. Whole pairs are removed first. */
const PAIRS = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g
const LONE = /\\u(0000|[dD][89a-fA-F])/

/** The same patterns for databases. */
export const SURROGATE_PAIR = PAIRS.source
export const LONE_ESCAPE = LONE.source

/**
 * The value at a path of a JSON text, as text: strings without quotes, numbers as written, objects and lists without
 * white space. Null where there is none or it is null, for invalid JSON, and for JSON with escapes of characters that
 * no text can hold.
 */
export function jsonAt(text: string, path: JsonPath): string | null {
  if (!isJson(text) || LONE.test(text.replace(PAIRS, ''))) return null
  let at = skipSpace(text, 0)
  for (const step of path) {
    const found = typeof step === 'number' ? elementOf(text, at, step) : memberOf(text, at, step)
    if (found === null) return null
    at = found
  }
  const raw = text.slice(at, endOfValue(text, at))
  if (raw === 'null') return null
  if (raw.startsWith('"')) return JSON.parse(raw)
  return raw.startsWith('{') || raw.startsWith('[') ? withoutSpace(raw) : raw
}

/** JSON without the white space between its strings. */
function withoutSpace(json: string): string {
  const parts: string[] = []
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at)
    const start = quote === -1 ? json.length : quote
    const end = quote === -1 ? start : endOfString(json, quote) + 1
    parts.push(json.slice(at, start).replace(/\s/g, ''), json.slice(start, end))
    at = end
  }
  return parts.join('')
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

const COMMA = 0x2c

/** Where the value ends that begins at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === QUOTE) {
      at = endOfString(text, at)
      if (depth === 0) return at + 1
    } else if (sign === OPEN_LIST || sign === OPEN_OBJECT) depth++
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) {
      if (depth <= 1) return depth === 0 ? at : at + 1
      depth--
    } else if (depth === 0 && (sign === COMMA || sign <= 0x20)) return at
  }
  return text.length
}

/** Where the element of the list at `start` begins; null where there is none. */
function elementOf(text: string, start: number, index: number): number | null {
  if (text.charCodeAt(start) !== OPEN_LIST) return null
  let at = skipSpace(text, start + 1)
  for (let left = index; text.charCodeAt(at) !== CLOSE_LIST; left--) {
    if (left === 0) return at
    at = skipSpace(text, endOfValue(text, at))
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return null
}

/** Where the value of a key of the object at `start` begins, the last one if the key is repeated; null where there is none. */
function memberOf(text: string, start: number, key: string): number | null {
  if (text.charCodeAt(start) !== OPEN_OBJECT) return null
  let found: number | null = null
  let at = skipSpace(text, start + 1)
  while (text.charCodeAt(at) !== CLOSE_OBJECT) {
    const end = endOfString(text, at) + 1
    const isKey = JSON.parse(text.slice(at, end)) === key
    at = skipSpace(text, skipSpace(text, end) + 1)
    if (isKey) found = at
    at = skipSpace(text, endOfValue(text, at))
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return found
}
