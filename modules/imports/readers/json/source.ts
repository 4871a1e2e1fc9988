import type { JsonPath } from './cells.ts'
import { endOfString } from './scanner.ts'

const SPACE = /[ \t\r\n]*/y

/**
 * A value in a valid JSON text as it is written, with all digits and spaces, which `JSON.parse` loses.
 * @param path keys that lead to it
 * @returns null if it is not there
 */
export function sourceAt(text: string, path: JsonPath): string | null {
  let at = skipSpace(text, 0)
  for (const key of path) {
    const found = text[at] === '{' ? memberOf(text, at, key) : null
    if (found === null) return null
    at = found
  }
  return text.slice(at, endOfValue(text, at))
}

/** Position of a member's value in the object at `start`. */
function memberOf(text: string, start: number, key: string): number | null {
  let at = skipSpace(text, start + 1)
  while (text[at] === '"') {
    const end = endOfString(text, at + 1)
    const isFound = JSON.parse(text.slice(at, end + 1)) === key
    // The colon.
    at = skipSpace(text, skipSpace(text, end + 1) + 1)
    if (isFound) return at
    at = skipSpace(text, endOfValue(text, at))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return null
}

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from
  SPACE.test(text)
  return SPACE.lastIndex
}

/** Position after the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') {
      at = endOfString(text, at + 1)
      if (depth === 0) return at + 1
    } else if (sign === '{' || sign === '[') depth++
    else if (sign === '}' || sign === ']') {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (
      depth === 0 &&
      (sign === ',' || sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t')
    ) {
      return at
    }
  }
  return text.length
}
