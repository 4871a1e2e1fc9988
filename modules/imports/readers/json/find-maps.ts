import { isObject, type JsonPath } from './cells.ts'
import { hasRowNumbers } from './column-tables.ts'
import { endOfString } from './scanner.ts'

/** Records that make a map whatever its keys are. */
const MANY_RECORDS = 5
/** Keys that programs give to records: with a digit, or as those of Firebase. */
const GIVEN_KEY = /^-|\d/
/** Share of all keys of the records that a record has on average. */
const MIN_SHARED = 0.5
const MAX_MAPS = 200
const MAX_DEPTH = 4

/** Finds objects whose values are records with the same keys, as in exports of Firebase: `{"-Na1": {"name": …}, "-Na2": …}`. */
export function findMaps(value: unknown): JsonPath[] {
  const maps: JsonPath[] = []
  visit(value, [], maps)
  return maps
}

function visit(value: unknown, path: JsonPath, maps: JsonPath[]): void {
  if (!isObject(value) || path.length > MAX_DEPTH || maps.length === MAX_MAPS) return
  if (isMap(value)) maps.push(path)
  else for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key], maps)
}

function isMap(value: Record<string, unknown>): boolean {
  const entries = Object.entries(value)
  if (entries.length < 2) return false
  if (entries.length < MANY_RECORDS && !entries.every(([key]) => GIVEN_KEY.test(key))) return false
  const keys = new Set<string>()
  let count = 0
  for (const [, record] of entries) {
    // The members of such objects are columns.
    if (!isObject(record) || hasRowNumbers(record)) return false
    for (const key of Object.keys(record)) {
      keys.add(key)
      count++
    }
  }
  return count > 0 && count >= MIN_SHARED * keys.size * entries.length
}

/** Parses as much of a JSON text as is complete; undefined if it is none. */
export function parseBeginning(text: string): unknown {
  const open: string[] = []
  let end = 0
  let closers = ''
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') {
      const quote = endOfString(text, at + 1)
      if (quote < 0) break
      at = quote
    } else if (sign === '{' || sign === '[') open.push(sign === '{' ? '}' : ']')
    else if (sign === '}' || sign === ']') {
      open.pop()
      if (open.length === 0) return parsed(text.slice(0, at + 1))
    } else if (sign === ',') {
      end = at
      closers = open.toReversed().join('')
    }
  }
  return parsed(text.slice(0, end) + closers)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The reader says what is wrong.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
