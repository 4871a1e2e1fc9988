import type { JsonPath } from './cells.ts'
import { endOfString } from './scanner.ts'

const SPACE = /[ \t\r\n]*/y

/**
 * A value in a valid JSON text as it is written, with all digits and spaces, which `JSON.parse` loses.
 * @param path keys that lead to it, or its position in a list
 * @returns null if it is not there
 */
export function sourceAt(text: string, path: JsonPath): string | null {
  const at = positionAt(text, path)
  return at === null ? null : text.slice(at, endOfValue(text, at))
}

/** The elements of a list in a valid JSON text as they are written. @param path as of `sourceAt` */
export function elementsAt(text: string, path: JsonPath): string[] {
  const start = positionAt(text, path)
  if (start === null) return []
  return Array.from(elementsOf(text, start), (at) => text.slice(at, endOfValue(text, at)))
}

function positionAt(text: string, path: JsonPath): number | null {
  let at = skipSpace(text, 0)
  for (const key of path) {
    const found = text[at] === '{' ? memberOf(text, at, key) : elementOf(text, at, Number(key))
    if (found === null) return null
    at = found
  }
  return at
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

/** Position of an element of the list at `start`. @param position from 1 */
function elementOf(text: string, start: number, position: number): number | null {
  let passed = 0
  for (const at of elementsOf(text, start)) if (++passed === position) return at
  return null
}

/** Positions of the elements of the list at `start`. */
function* elementsOf(text: string, start: number): Generator<number> {
  if (text[start] !== '[') return
  let at = skipSpace(text, start + 1)
  while (at < text.length && text[at] !== ']') {
    yield at
    at = skipSpace(text, endOfValue(text, at))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
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
