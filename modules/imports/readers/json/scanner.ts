import { FileError } from '../../../../src/core/imports/file-error.ts'
import { MAX_JSON_KEY, MAX_JSON_NESTING } from '../../../../src/core/imports/format.ts'
import { m } from '../../../../src/messages.gen.ts'
import { type JsonPath, pathKey } from './cells.ts'
import { checkJson, type JsonFault } from './check-json.ts'

/** Longest record, in characters. */
const MAX_RECORD = 8_000_000
/** Values besides the records, such as the arcs of a map, are left out beyond this length: each, and all together. */
const MAX_ASIDE = 8_000_000
const MAX_ASIDES = 32_000_000

export interface JsonHandlers {
  /**
   * A list of objects or of lists begins, or goes on after a list of objects in it; false to skip its records without parsing them.
   */
  openTable(path: string[]): boolean
  /**
   * @param source the record as it is written
   * @param key of a record in a map
   */
  record(value: unknown, source: string, key?: string): void
  /** A value of the outermost object that is in no list of objects or lists. */
  aside(path: string[], value: unknown): void
  /** Such a value that is too long to be read. */
  dropped(path: string[], line: number): void
}

/** Finds the records of a JSON file in constant memory. */
export interface JsonScanner {
  /** @throws FileError with the line of a fault */
  push(text: string): void
  /** @throws FileError for an incomplete file */
  end(): void
}

const SPACE = /[ \t\r\n]*/y
/** Begins each record of a JSON text sequence (RFC 7464). */
const RECORD_MARK = 0x1e
const [QUOTE, BACKSLASH, COLON, COMMA, SLASH] = [0x22, 0x5c, 0x3a, 0x2c, 0x2f]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** Digits that every double has; longer numbers may lose some. */
const SAFE_DIGITS = 15

/** Key of the lists of objects in a list, such as the pages of an answer; all of them are one table. */
export const PAGE = ''

/** What the scanner expects next, outside of a captured value. */
type Expected = 'value' | 'first element' | 'element' | 'first key' | 'key' | 'colon' | 'next' | 'end'

interface Level {
  isObject: boolean
  /** True for a list whose elements are records, and for a map whose values are. */
  isTable: boolean
  isWanted: boolean
  keys: Set<string>
}

/**
 * @param isSequence true for a file with a record per line (NDJSON, RFC 7464), or with nothing or a comma between
 * records; otherwise the file is one value, in which every list of objects or of lists that only objects lead to is a table
 * @param maps paths of objects whose values are the records of a table
 */
export function createJsonScanner(
  isSequence: boolean,
  handlers: JsonHandlers,
  maps: readonly JsonPath[] = [],
): JsonScanner {
  const mapKeys = new Set(maps.map(pathKey))
  const levels: Level[] = []
  const path: string[] = []
  let buffer = ''
  let at = 0
  /** Line of the buffer's start, and column before it. */
  let line = 1
  let columnBefore = 0
  let expected: Expected = 'value'
  /** True until a comma follows the only value, which may have been copied from a list. */
  let mayHaveComma = true
  let capture: Capture | null = null
  /** Length of all values besides the records. */
  let asides = 0

  function locate(offset: number): { line: number; column: number } {
    let found = line
    let start = -columnBefore
    for (
      let next = buffer.indexOf('\n');
      next !== -1 && next < offset;
      next = buffer.indexOf('\n', next + 1)
    ) {
      found++
      start = next + 1
    }
    return { line: found, column: offset - start + 1 }
  }

  function refuse({ kind, at: offset, found }: JsonFault): never {
    const position = locate(offset)
    switch (kind) {
      case 'depth':
        throw new FileError(m.imports_error_json_depth({ ...position, max: MAX_JSON_NESTING }))
      case 'duplicate':
        throw new FileError(m.imports_error_json_duplicate({ ...position, key: found }))
      case 'key':
        throw new FileError(m.imports_error_json_key({ ...position, max: MAX_JSON_KEY }))
      case 'incomplete':
        throw new FileError(m.imports_error_json_incomplete({ ...position }))
      default:
        throw new FileError(m.imports_error_json_syntax({ ...position, found }))
    }
  }

  const unexpected = (): never => refuse({ kind: 'syntax', at, found: buffer.slice(at, at + 30) })

  /** Drops the text before `at`, or before the captured value. */
  function compact(): void {
    const start = capture?.start ?? at
    const lastBreak = buffer.lastIndexOf('\n', start - 1)
    for (let next = buffer.indexOf('\n'); next !== -1 && next < start; next = buffer.indexOf('\n', next + 1))
      line++
    columnBefore = lastBreak === -1 || start === 0 ? columnBefore + start : start - lastBreak - 1
    buffer = buffer.slice(start)
    at -= start
    if (capture) capture.start = 0
  }

  function parse({ start, end, colons, hasLongNumber }: Captured): unknown {
    const text = buffer.slice(start, end)
    let value: unknown
    try {
      value = JSON.parse(hasLongNumber ? quoteLongNumbers(text) : text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      value = parseWithWords(text)
    }
    // Of equal keys, `JSON.parse` silently keeps the last.
    if (value === undefined || (colons > 0 && colons !== countKeys(value))) {
      const fault = checkJson(text)
      if (fault) refuse({ ...fault, at: fault.at + start })
    }
    return value
  }

  const top = (): Level | undefined => levels.at(-1)

  function closeLevel(): void {
    levels.pop()
    const around = top()
    if (around) path.pop()
    // A list of objects in a list of records has ended, and that one goes on.
    if (around && !around.isObject) around.isWanted = handlers.openTable([...path])
    expected = levels.length === 0 ? 'end' : 'next'
  }

  function finishValue(): void {
    if (top()?.isObject) path.pop()
    expected = levels.length === 0 ? 'end' : 'next'
  }

  function beginCapture(): void {
    capture = {
      start: at,
      depth: 0,
      isString: false,
      colons: 0,
      digits: 0,
      hasLongNumber: false,
      droppedAt: null,
    }
  }

  const record = (done: Capture, key?: string): void =>
    handlers.record(parse({ ...done, end: at }), buffer.slice(done.start, at), key)

  function endCapture(done: Capture): void {
    capture = null
    const level = top()
    if (level?.isTable) {
      if (level.isWanted) record(done, level.isObject ? path.at(-1) : undefined)
    } else if (level === undefined) record(done)
    else endAside(done)
    finishValue()
  }

  function endAside(done: Capture): void {
    const length = at - done.start
    asides += length
    const isTooLong = length > MAX_ASIDE || asides > MAX_ASIDES
    if (done.droppedAt !== null || isTooLong)
      handlers.dropped([...path], done.droppedAt ?? locate(done.start).line)
    else handlers.aside([...path], parse({ ...done, end: at }))
  }

  /** Continues the captured value. Returns false when the buffer ends first. */
  function continueCapture(value: Capture, isLast: boolean): boolean {
    for (; at < buffer.length; at++) {
      const sign = buffer.charCodeAt(at)
      if (value.isString) {
        // Skips to the end of the string.
        const end = endOfString(buffer, at)
        if (end === -1) {
          at = buffer.length - trailingBackslash(buffer)
          break
        }
        at = end
        value.isString = false
        if (value.depth === 0) {
          at++
          endCapture(value)
          return true
        }
        continue
      }
      if (sign >= 0x30 && sign <= 0x39) {
        if (++value.digits > SAFE_DIGITS) value.hasLongNumber = true
        continue
      }
      // A double has no numbers such as 1e999.
      if (value.digits > 0 && (sign === 0x65 || sign === 0x45)) value.hasLongNumber = true
      if (sign !== 0x2e) value.digits = 0
      if (sign === QUOTE) value.isString = true
      else if (sign === OPEN_OBJECT || sign === OPEN_LIST) {
        if (++value.depth + levels.length > MAX_JSON_NESTING) refuse({ kind: 'depth', at, found: '' })
      } else if (sign === CLOSE_OBJECT || sign === CLOSE_LIST) {
        if (value.depth === 0) {
          // The end of a number or word, by the bracket around it.
          endCapture(value)
          return true
        }
        if (--value.depth === 0) {
          at++
          endCapture(value)
          return true
        }
      } else if (sign === COLON) value.colons++
      else if (value.depth === 0 && (sign === COMMA || sign <= 0x20)) {
        endCapture(value)
        return true
      }
    }
    const length = at - value.start
    const isRecord = !top()?.isObject || top()?.isTable === true
    if (isRecord && length > MAX_RECORD) {
      throw new FileError(m.imports_error_json_record({ line: locate(value.start).line, max: MAX_RECORD }))
    }
    if (!isRecord && length > MAX_ASIDE) {
      value.droppedAt ??= locate(value.start).line
      value.start = at
    }
    if (isLast && value.depth === 0 && !value.isString && levels.length === 0) {
      endCapture(value)
      return true
    }
    return false
  }

  function takeKey(): boolean {
    const end = endOfString(buffer, at + 1)
    if (buffer.charCodeAt(at) !== QUOTE) unexpected()
    if (end === -1) {
      if (buffer.length - at > MAX_JSON_KEY * 6) refuse({ kind: 'key', at, found: '' })
      return false
    }
    const key = parse({ start: at, end: end + 1, colons: 0, hasLongNumber: false }) as string
    if (key.length > MAX_JSON_KEY) refuse({ kind: 'key', at, found: '' })
    const keys = top()?.keys
    if (keys?.has(key)) refuse({ kind: 'duplicate', at, found: key.slice(0, 30) })
    // Of records with equal keys, none is lost, and a map may have millions.
    if (!top()?.isTable) keys?.add(key)
    path.push(key)
    at = end + 1
    expected = 'colon'
    return true
  }

  function open(isObject: boolean, isTable: boolean): void {
    if (levels.length === MAX_JSON_NESTING) refuse({ kind: 'depth', at, found: '' })
    const isWanted = isTable && handlers.openTable([...path])
    levels.push({ isObject, isTable, isWanted, keys: new Set() })
    at++
    expected = isObject ? 'first key' : 'first element'
  }

  /** The position of the next sign that is neither a space nor the mark of a record. */
  function skipSpace(from: number): number {
    for (let next = from; ; next++) {
      SPACE.lastIndex = next
      SPACE.test(buffer)
      next = SPACE.lastIndex
      if (buffer.charCodeAt(next) !== RECORD_MARK) return next
    }
  }

  /**
   * True if the list at the position begins with an object, or with a list of values, such as a row; null if that needs more text. Lists of lists
   * of lists are no rows, but shapes of maps.
   */
  function isListOfRecords(): boolean | null {
    const first = skipSpace(at + 1)
    if (first >= buffer.length) return null
    if (buffer.charCodeAt(first) !== OPEN_LIST) return buffer.charCodeAt(first) === OPEN_OBJECT
    const inner = skipSpace(first + 1)
    if (inner >= buffer.length) return null
    const sign = buffer.charCodeAt(inner)
    return sign !== OPEN_LIST && sign !== OPEN_OBJECT
  }

  /** Skips a line that begins with `//`. Returns false if it needs more text. */
  function skipComment(isLast: boolean): boolean {
    const end = buffer.indexOf('\n', at)
    if (end < 0 && !isLast) return false
    if (!buffer.startsWith('//', at)) unexpected()
    at = end < 0 ? buffer.length : end
    return true
  }

  /** Takes one step outside of a captured value. Returns false if it needs more text. */
  function step(sign: number, isLast: boolean): boolean {
    switch (expected) {
      case 'end':
        if (isSequence) expected = 'value'
        else if (sign !== COMMA || !mayHaveComma) unexpected()
        if (sign === COMMA) at++
        mayHaveComma = false
        return true
      case 'value': {
        const isRoot = levels.length === 0
        if (isRoot && sign === SLASH) return skipComment(isLast)
        if (isEndOfValue(sign)) unexpected()
        if (isSequence || top()?.isTable || (sign !== OPEN_OBJECT && sign !== OPEN_LIST)) beginCapture()
        else if (sign === OPEN_OBJECT) open(true, mapKeys.has(pathKey(path)))
        else if (isRoot) open(false, true)
        else {
          const isTable = isListOfRecords()
          if (isTable === null && !isLast) return false
          if (isTable) open(false, true)
          else beginCapture()
        }
        return true
      }
      case 'first element':
      case 'element':
        if (sign === CLOSE_LIST && expected === 'first element') {
          at++
          closeLevel()
          return true
        }
        if (isEndOfValue(sign)) unexpected()
        if (sign === OPEN_LIST && levels.length === 1) {
          const first = skipSpace(at + 1)
          if (first >= buffer.length && !isLast) return false
          if (buffer.charCodeAt(first) === OPEN_OBJECT) {
            path.push(PAGE)
            open(false, true)
            return true
          }
        }
        beginCapture()
        return true
      case 'first key':
      case 'key':
        if (sign !== CLOSE_OBJECT || expected === 'key') return takeKey()
        at++
        closeLevel()
        return true
      case 'colon':
        if (sign !== COLON) unexpected()
        at++
        expected = 'value'
        return true
      case 'next': {
        const isObject = top()?.isObject ?? false
        if (sign === COMMA) expected = isObject ? 'key' : 'element'
        else if (sign === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
          at++
          closeLevel()
          return true
        } else unexpected()
        at++
        return true
      }
    }
  }

  function scan(isLast: boolean): void {
    for (;;) {
      if (capture) {
        if (!continueCapture(capture, isLast)) return
        continue
      }
      at = skipSpace(at)
      if (at >= buffer.length || !step(buffer.charCodeAt(at), isLast)) return
    }
  }

  return {
    push(text) {
      compact()
      buffer += text
      scan(false)
    },
    end() {
      scan(true)
      const isDone = levels.length === 0 && capture === null && (expected === 'end' || isSequence)
      if (isDone) return
      const fault = capture ? checkJson(buffer.slice((capture as Capture).start)) : null
      if (fault) refuse({ ...fault, at: fault.at + ((capture as Capture | null)?.start ?? 0) })
      refuse({ kind: 'incomplete', at: buffer.length, found: '' })
    },
  }
}

const isEndOfValue = (sign: number): boolean => sign === COMMA || sign === CLOSE_LIST || sign === CLOSE_OBJECT

/** A value in the buffer. */
interface Captured {
  start: number
  end: number
  /** Colons outside of strings, one for each key. */
  colons: number
  hasLongNumber: boolean
}

/** A value that is being collected. */
interface Capture extends Omit<Captured, 'end'> {
  depth: number
  isString: boolean
  /** Digits of the number before the position. */
  digits: number
  /** Line of a value outside of the records that is too long; null for others. */
  droppedAt: number | null
}

/** Position of the quote that ends a string, from a position within; -1 if the text ends first. */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (at - 1 - escapes >= from && text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}

/** 1 if the text ends with half an escape, which then has to be read again. */
function trailingBackslash(text: string): number {
  let escapes = 0
  while (text.charCodeAt(text.length - 1 - escapes) === BACKSLASH) escapes++
  return escapes % 2
}

const TOKEN = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g

/** Turns numbers that a double cannot represent into strings, which keep their digits. */
const quoteLongNumbers = (text: string): string =>
  text.replace(TOKEN, (token) => (token.startsWith('"') || isDouble(token) ? token : `"${token}"`))

const WORD = /"(?:[^"\\]|\\.)*"?|-?\b(?:NaN|Infinity)\b/g

/**
 * Parses JSON with the numbers that Python and others write although JSON has none for them: NaN and Infinity become texts, as in CSV.
 * Undefined for other texts that are not JSON.
 */
function parseWithWords(text: string): unknown {
  const quoted = quoteLongNumbers(
    text.replace(WORD, (token) => (token.startsWith('"') ? token : `"${token}"`)),
  )
  try {
    return quoted === text ? undefined : JSON.parse(quoted)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isDouble(token: string): boolean {
  const value = Number(token)
  if (String(value) === token) return true
  const isLost = !Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/.test(token))
  return token.length <= SAFE_DIGITS && !isLost
}

/** Number of keys of all objects in a value; NaN if one is too long. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item)
    return count
  }
  for (const key in value) {
    count += key.length > MAX_JSON_KEY ? Number.NaN : 1 + countKeys((value as Record<string, unknown>)[key])
  }
  return count
}
