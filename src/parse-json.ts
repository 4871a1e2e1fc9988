import { breathe } from './breathe.ts'
import { MAX_JSON_DEPTH, parseJsonText } from './core/json-text.ts'

/** Characters from which on a text is parsed in turns; a shorter one takes a few milliseconds. */
export const LARGE_JSON = 256 * 1024

/** Characters that are parsed at once of a longer text. */
const PART = 64 * 1024

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** A list or object that has not been closed yet. */
interface Frame {
  isList: boolean
  /** Where it opens. */
  start: number
  /** Where the item begins that is being scanned. */
  itemStart: number
  /** All items before this have been parsed. */
  parsedTo: number
  /** The items that have been parsed; null while it may still be parsed as a whole. */
  value: unknown[] | Record<string, unknown> | null
  /** True right behind a list or object that was parsed by itself: a comma or the end has to follow. */
  isItemComplete: boolean
}

/**
 * As `parseJsonText`, with turns of the event loop between the parts of a long text.
 *
 * @throws SyntaxError for text that is not JSON, or nested too deeply
 */
export async function parseJsonInTurns(text: string): Promise<unknown> {
  if (text.length < LARGE_JSON) return parseJsonText(text)
  const first = skipBlank(text, 0)
  const opening = text.charCodeAt(first)
  if (opening !== OPEN_LIST && opening !== OPEN_OBJECT) return JSON.parse(text)
  const open: Frame[] = []
  let turnAt = PART
  for (let at = first; at < text.length; at++) {
    if (at >= turnAt) {
      turnAt = at + PART
      await breathe()
    }
    const sign = text.charCodeAt(at)
    if (sign === QUOTE) {
      at = endOfString(text, at)
    } else if (sign === OPEN_LIST || sign === OPEN_OBJECT) {
      if (open.length === MAX_JSON_DEPTH)
        throw new SyntaxError(`JSON is nested more than ${MAX_JSON_DEPTH} levels deep`)
      open.push({
        isList: sign === OPEN_LIST,
        start: at,
        itemStart: at + 1,
        parsedTo: at + 1,
        value: null,
        isItemComplete: false,
      })
    } else if (sign === COMMA) {
      const frame = open.at(-1)
      if (!frame) throw unexpected(text, at)
      if (frame.isItemComplete || at - frame.parsedTo > PART) {
        takeItems(text, open, at)
        frame.parsedTo = at + 1
      }
      frame.itemStart = at + 1
    } else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) {
      const frame = open.pop()
      if (!frame || frame.isList !== (sign === CLOSE_LIST)) throw unexpected(text, at)
      if (!frame.value) {
        if (open.length > 0) continue
        // One that holds few items, such as a single long text.
        frame.value = JSON.parse(text.slice(frame.start, at + 1))
      } else {
        // Empty only right behind an item: a comma has to be followed by one.
        takeItems(text, [frame], at)
      }
      const parent = open.at(-1)
      if (!parent) {
        const end = skipBlank(text, at + 1)
        if (end < text.length) throw unexpected(text, end)
        return frame.value
      }
      add(parent, keyOf(text, parent, frame.start), frame.value)
      parent.parsedTo = at + 1
      parent.isItemComplete = true
    }
  }
  throw new SyntaxError('JSON Parse error: Unexpected EOF')
}

/** Parses the items of the innermost list or object that end before `end`. Those around it are parsed up to it. */
function takeItems(text: string, open: Frame[], end: number): void {
  for (const [level, frame] of open.entries()) {
    frame.value ??= frame.isList ? [] : {}
    if (open[level + 1]) takeSlice(text, frame, frame.itemStart, true)
    else takeSlice(text, frame, end, false)
  }
}

/** @param isBehindComma true where the slice ends with the comma behind its last item, if it has any */
function takeSlice(text: string, frame: Frame, end: number, isBehindComma: boolean): void {
  const from = frame.parsedTo
  if (isBehindComma && from === end) return
  const items = text.slice(from, isBehindComma ? end - 1 : end)
  frame.parsedTo = end
  if (frame.isItemComplete) {
    frame.isItemComplete = false
    const at = skipBlank(items, 0)
    if (at < items.length) throw unexpected(items, at)
    return
  }
  if (skipBlank(items, 0) === items.length) throw unexpected(text, end)
  const parsed: unknown = JSON.parse(frame.isList ? `[${items}]` : `{${items}}`)
  if (Array.isArray(parsed)) for (const item of parsed) (frame.value as unknown[]).push(item)
  else for (const [key, item] of Object.entries(parsed as object)) add(frame, key, item)
}

function add({ value, isList }: Frame, key: string, item: unknown): void {
  if (isList) (value as unknown[]).push(item)
  // Assigning to this key would set the prototype.
  else if (key === '__proto__')
    Object.defineProperty(value, key, { value: item, enumerable: true, configurable: true, writable: true })
  else (value as Record<string, unknown>)[key] = item
}

/** The key of an object's item whose value begins at `valueStart`; empty for a list's. @throws SyntaxError */
function keyOf(text: string, { isList, itemStart }: Frame, valueStart: number): string {
  const before = text.slice(itemStart, valueStart)
  if (isList) {
    const at = skipBlank(before, 0)
    if (at < before.length) throw unexpected(before, at)
    return ''
  }
  // A value between the colon and the list or object would run into this one.
  const [key] = Object.keys(JSON.parse(`{${before}null}`) as object)
  if (key === undefined) throw unexpected(text, valueStart)
  return key
}

const unexpected = (text: string, at: number): SyntaxError =>
  new SyntaxError(`JSON Parse error: Unexpected token '${text[at] ?? ''}'`)

function skipBlank(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign !== SPACE && sign !== NEWLINE && sign !== RETURN && sign !== TAB) break
  }
  return at
}

/** Where the quote that closes a string is; the end of the text where it is never closed. */
function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
}
