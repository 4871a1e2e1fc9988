/** Deepest nesting of JSON that is parsed. Each level costs 75 bytes, and walking deep values exhausts the stack. */
export const MAX_JSON_DEPTH = 200

/** True if the brackets of a JSON text are nested deeper than `MAX_JSON_DEPTH`. One linear scan. */
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

export const QUOTE = 0x22
const BACKSLASH = 0x5c
export const OPEN_LIST = 0x5b
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** Index of the quote that closes the string opened at `start`; the text's length if it is unclosed. */
export function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
}

/**
 * `JSON.parse` for untrusted text: checks the nesting before parsing.
 * @throws SyntaxError for invalid or too deeply nested JSON
 */
export function parseJsonText(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`JSON is nested more than ${MAX_JSON_DEPTH} levels deep`)
  return JSON.parse(text)
}

/** As `parseJsonText`; null for invalid or too deeply nested JSON. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** True for valid JSON that the engine can parse. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    // RangeError: the engine's nesting limit.
    if (error instanceof SyntaxError || error instanceof RangeError) return false
    throw error
  }
}

/** Escapes in JSON: the null character, a pair of surrogates, a surrogate alone, and all others. */
const ESCAPES =
  /\\(?:u0000|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[\s\S])/g

/** JSON text without null characters and halves of surrogate pairs, which PostgreSQL stores neither in text nor in JSON. */
export const storableJson = (text: string): string =>
  text.replace(ESCAPES, (sequence) => {
    if (sequence === '\\u0000') return ''
    return sequence.length === '\\ud83d'.length ? '\ufffd' : sequence
  })

/** False for JSON text that `storableJson` would change. */
export const isStorableJson = (text: string): boolean => storableJson(text) === text
