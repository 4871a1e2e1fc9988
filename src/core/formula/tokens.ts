import type { Span } from './ast.ts'

/** Kinds of pieces of a formula's text, for colouring. */
export type TokenKind =
  | 'space'
  | 'number'
  | 'string'
  | 'reference'
  | 'function'
  | 'literal'
  | 'name'
  | 'operator'
  | 'open'
  | 'close'
  | 'comma'
  /** A quote or a brace without its end, or a sign that formulas have no use for. */
  | 'unknown'

/** A piece of a formula's text. */
export interface FormulaToken extends Span {
  kind: TokenKind
  text: string
}

/** Longest formula. */
export const MAX_FORMULA_LENGTH = 20_000

const RULES: [TokenKind, RegExp][] = [
  ['space', /\s+/y],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['string', /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y],
  ['reference', /\{\{[^{}]*\}\}|\{(?:[^{}\\]|\\[\s\S])+\}/y],
  ['name', /[\p{L}_$][\p{L}\p{N}_$]*/uy],
  ['operator', /==|!=|<>|<=|>=|[-+*/%&=<>!~^|]/y],
  ['open', /\(/y],
  ['close', /\)/y],
  ['comma', /,/y],
  ['unknown', /["'{][\s\S]*|[\s\S]/y],
]

const LITERALS = /^(?:true|false|null)$/i

/**
 * The text cut into its pieces, spaces included: put together they are the text again, whatever it holds. Text
 * beyond `MAX_FORMULA_LENGTH` is one unknown piece.
 */
export function formulaTokens(text: string): FormulaToken[] {
  const tokens: FormulaToken[] = []
  const end = Math.min(text.length, MAX_FORMULA_LENGTH)
  const read = text.slice(0, end)
  for (let at = 0; at < end; ) {
    const token = tokenAt(read, at)
    tokens.push(token)
    at = token.to
  }
  if (end < text.length) tokens.push({ kind: 'unknown', text: text.slice(end), from: end, to: text.length })
  nameFunctions(tokens)
  return tokens
}

function tokenAt(text: string, at: number): FormulaToken {
  for (const [kind, rule] of RULES) {
    rule.lastIndex = at
    const found = rule.exec(text)?.[0]
    if (found) return { kind, text: found, from: at, to: at + found.length }
  }
  return { kind: 'unknown', text: text.charAt(at), from: at, to: at + 1 }
}

/** A name before a bracket is a function's; true, false and null are literals. */
function nameFunctions(tokens: FormulaToken[]): void {
  let next: TokenKind | null = null
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at]
    if (!token || token.kind === 'space') continue
    if (token.kind === 'name' && next === 'open') token.kind = 'function'
    else if (token.kind === 'name' && LITERALS.test(token.text)) token.kind = 'literal'
    next = token.kind
  }
}

/** The title or id that a reference names, its escapes resolved. */
export function readReference(text: string): { name: string; isId: boolean } {
  if (/^\{\{[^{}]*\}\}$/.test(text)) return { name: text.slice(2, -2), isId: true }
  if (!text.startsWith('{')) return { name: text, isId: false }
  return { name: text.slice(1, -1).replace(/\\([\\{}])/g, '$1'), isId: false }
}

/** A title as a reference: braces and backslashes escaped. */
export const writeReference = (title: string): string => `{${title.replace(/[\\{}]/g, '\\$&')}}`

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\' }

/** The value of a string literal. A backslash before any other character is kept: patterns are full of them. */
export const readString = (text: string): string =>
  text.slice(1, -1).replace(/\\([\s\S])/g, (both, sign: string) => ESCAPES[sign] ?? both)
