import { MAX_JSON_KEY, MAX_JSON_NESTING } from '../../../../src/core/imports/format.ts'

/** A fault in a JSON text. */
export interface JsonFault {
  kind: 'syntax' | 'incomplete' | 'depth' | 'duplicate' | 'key'
  /** Position in the text, from 0. */
  at: number
  /** The key, or the text at the fault. */
  found: string
}

const SPACE = /[ \t\r\n]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y
/** A string that the text ends in. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const CUT_STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*\\?$/y
const SHOWN = 30

/** Finds the first fault of a JSON value, which `JSON.parse` does not locate; null if there is none. */
export function checkJson(text: string): JsonFault | null {
  const open: { isObject: boolean; keys: Set<string> }[] = []
  let at = 0
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (!match) return null
    at += match[0].length
    return match[0]
  }
  function fault(kind: JsonFault['kind'], found = text.slice(at, at + SHOWN)): JsonFault {
    CUT_STRING.lastIndex = at
    const isCut = kind === 'syntax' && (at >= text.length || CUT_STRING.test(text))
    return { kind: isCut ? 'incomplete' : kind, at, found }
  }

  function takeKey(keys: Set<string>): JsonFault | null {
    take(SPACE)
    const start = at
    // Longer texts may be too much for the expression.
    const quote = text.indexOf('"', at + 1)
    if (text[at] === '"' && quote - at > 6 * MAX_JSON_KEY) return fault('key', '')
    const quoted = take(STRING)
    if (quoted === null) return fault('syntax')
    const key: string = JSON.parse(quoted)
    const isLong = key.length > MAX_JSON_KEY
    if (isLong || keys.has(key)) {
      at = start
      return fault(isLong ? 'key' : 'duplicate', key.slice(0, SHOWN))
    }
    keys.add(key)
    take(SPACE)
    if (text[at] !== ':') return fault('syntax')
    at++
    return null
  }

  for (;;) {
    take(SPACE)
    const sign = text[at]
    if (sign === '{' || sign === '[') {
      if (open.length === MAX_JSON_NESTING) return fault('depth')
      const level = { isObject: sign === '{', keys: new Set<string>() }
      at++
      take(SPACE)
      if (text[at] !== (level.isObject ? '}' : ']')) {
        open.push(level)
        const problem = level.isObject ? takeKey(level.keys) : null
        if (problem) return problem
        continue
      }
      at++
    } else if (take(STRING) === null && take(SCALAR) === null) return fault('syntax')
    for (;;) {
      take(SPACE)
      const level = open.at(-1)
      if (!level) return at < text.length ? fault('syntax') : null
      if (text[at] === (level.isObject ? '}' : ']')) {
        open.pop()
        at++
        continue
      }
      if (text[at] !== ',') return fault('syntax')
      at++
      const problem = level.isObject ? takeKey(level.keys) : null
      if (problem) return problem
      break
    }
  }
}
