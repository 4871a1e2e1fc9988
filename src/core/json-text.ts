/** Deepest nesting of JSON that is parsed: a parsed bracket takes 75 bytes, and walking deep values exhausts the stack. */
export const MAX_JSON_DEPTH = 200

/** True where the brackets of a JSON text are nested more than `MAX_JSON_DEPTH` deep. Looks at each character once. */
export function isTooDeep(text: string): boolean {
  // Text with fewer brackets cannot be deeper.
  if (text.length <= MAX_JSON_DEPTH) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === QUOTE) at = endOfString(text, at)
    else if ((sign === OPEN_LIST || sign === OPEN_OBJECT) && ++depth > MAX_JSON_DEPTH) return true
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Where the quote that closes a string stands; the end of the text where it is never closed. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at++
    else if (sign === QUOTE) return at
  }
  return text.length
}

/**
 * `JSON.parse` for text from outside, with the nesting checked before anything is parsed.
 * @throws SyntaxError for text that is not JSON, or nested too deeply
 */
export function parseJsonText(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`JSON is nested more than ${MAX_JSON_DEPTH} levels deep`)
  return JSON.parse(text)
}
