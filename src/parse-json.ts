import { breathe } from './breathe.ts'
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  endOfString,
  MAX_JSON_DEPTH,
  OPEN_LIST,
  OPEN_OBJECT,
  parseJsonText,
  QUOTE,
} from './core/json-text.ts'

/** Length from which a text is parsed in turns; a shorter one takes a few milliseconds. */
export const LARGE_JSON = 256 * 1024

/** Characters of a long text parsed in one turn. */
const CHUNK = 64 * 1024

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const COMMA = 0x2c

/** A list or object that has not been closed yet. */
interface Frame {
  isList: boolean
  /** Index of the opening bracket. */
  start: number
  /** Index of the first character of the current item. */
  itemStart: number
  /** All items before this index have been parsed. */
  parsedTo: number
  /** The parsed items; null while the whole may still be parsed at once. */
  value: unknown[] | Record<string, unknown> | null
  /** True right after a nested list or object that was parsed separately: only a comma or the end may follow. */
  isItemComplete: boolean
}

/**
 * As `parseJsonText`, but lets the event loop run between chunks of a long text.
 *
 * @throws SyntaxError for text that is not JSON, or nested too deeply
 */
export async function parseJsonInTurns(text: string): Promise<unknown> {
  if (text.length < LARGE_JSON) return parseJsonText(text)
  const first = skipBlank(text, 0)
  const opening = text.charCodeAt(first)
  if (opening !== OPEN_LIST && opening !== OPEN_OBJECT) return JSON.parse(text)
  const open: Frame[] = []
  let turnAt = CHUNK
  for (let at = first; at < text.length; at++) {
    if (at >= turnAt) {
      turnAt = at + CHUNK
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
      if (frame.isItemComplete || at - frame.parsedTo > CHUNK) {
        takeItems(text, open, at)
        frame.parsedTo = at + 1
      }
      frame.itemStart = at + 1
    } else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) {
      const frame = open.pop()
      if (!frame || frame.isList !== (sign === CLOSE_LIST)) throw unexpected(text, at)
      if (!frame.value) {
        if (open.length > 0) continue
        // Few items, such as a single long string.
        frame.value = JSON.parse(text.slice(frame.start, at + 1))
      } else {
        // Nothing left to parse only right after an item: a trailing comma is an error.
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

/** Parses the items of the innermost list or object up to `end`, and those of the enclosing ones up to it. */
function takeItems(text: string, open: Frame[], end: number): void {
  for (const [level, frame] of open.entries()) {
    frame.value ??= frame.isList ? [] : {}
    if (open[level + 1]) takeSlice(text, frame, frame.itemStart, true)
    else takeSlice(text, frame, end, false)
  }
}

/** @param isBehindComma whether the slice, unless empty, ends with the comma after its last item */
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
  // Plain assignment to this key would set the prototype.
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
  // A value between the colon and the bracket would make this text invalid.
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
