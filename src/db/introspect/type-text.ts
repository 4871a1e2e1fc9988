/** The numbers in a type's parentheses: `numeric(10,2)` gives `[10, 2]`; none give an empty list. */
export function sizesOf(type: string): number[] {
  const [, inside = ''] = /\(([\d\s,]+)\)/.exec(type) ?? []
  return inside === '' ? [] : inside.split(',').map(Number)
}

/** The type without its sizes, in lower case: `timestamp(3) without time zone` is `timestamp without time zone`. */
export function withoutSizes(type: string): string {
  const open = type.indexOf('(')
  const close = open < 0 ? -1 : type.indexOf(')', open)
  const bare = close < 0 ? type : type.slice(0, open).trimEnd() + type.slice(close + 1)
  return bare.toLowerCase().replace(/\s+/g, ' ').trim()
}

/**
 * The texts of a quoted list: `enum('a','it''s')` gives `a` and `it's`. Doubled quotes mean one; so does, in
 * MySQL, nothing else: `information_schema` writes backslashes as they are.
 */
export function quotedTexts(list: string): string[] {
  return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
}

/** A literal in quotes as its text; null for anything that is not one alone. */
export function literalText(expression: string): string | null {
  const [, text] = /^'((?:[^']|'')*)'$/.exec(expression.trim()) ?? []
  return text === undefined ? null : text.replaceAll("''", "'")
}
