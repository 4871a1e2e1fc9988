/**
 * True for a text that begins as JSON: one object or list, or several of them on lines of their own (JSON Lines).
 * A CSV file with JSON, or with `[x]`, in its first cell goes on behind it, and is none.
 *
 * @param text without blanks in front
 * @param isWhole false where the text goes on
 */
export function looksLikeJson(text: string, isWhole: boolean): boolean {
  if (text[0] !== '{' && text[0] !== '[') return false
  // An object with a name in quotes is meant as one, even where it breaks off or a comma is too many.
  const isClear = /^(?:\{\s{0,1000}"(?:[^"\\\r\n]|\\.){0,1000}"\s{0,1000}:|\[\s{0,1000}[{[])/.test(text)
  let at = 0
  let values = 0
  while (at < text.length) {
    const end = endOfValue(text, at)
    if (end === null) return isClear || (values > 0 && !isWhole)
    const next = end + (/^\s*/.exec(text.slice(end, end + 1000))?.[0].length ?? 0)
    const isLast = next >= text.length
    // On one line with something else: a cell among others.
    if (!isLast && !text.slice(end, next).includes('\n')) return false
    const value = text.slice(at, end)
    if (!isJson(value)) return isClear
    // Ticks and footnotes on lines of their own: `[ ]`, `[1]`.
    if (!isLast && text[at] === '[' && !value.includes(',')) return false
    if (!isLast && text[next] !== '{' && text[next] !== '[') return false
    values++
    at = next
  }
  return true
}

/** Where the object or list ends that begins at `start`; null where the text ends first. */
function endOfValue(text: string, start: number): number | null {
  let depth = 0
  let isText = false
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (isText && sign === '\\') at++
    else if (sign === '"') isText = !isText
    else if (isText) continue
    else if (sign === '{' || sign === '[') depth++
    else if ((sign === '}' || sign === ']') && --depth === 0) return at + 1
  }
  return null
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    // A RangeError: an engine's own limit of nesting.
    if (error instanceof SyntaxError || error instanceof RangeError) return false
    throw error
  }
}
