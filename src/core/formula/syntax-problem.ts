import type { Problem } from './ast.ts'
import { type FormulaToken, MAX_FORMULA_LENGTH } from './tokens.ts'

/** Brackets within brackets. */
export const MAX_NESTING = 64
/** Operators in one formula: a chain of them is as deep as it is long. */
export const MAX_OPERATORS = 250

/**
 * Why a formula's text cannot be read, in words. `place` is where the parser could not go on; null before it has
 * tried: then only what no parser needs to look at is a problem, and null is returned where nothing is.
 */
export function syntaxProblem(text: string, tokens: FormulaToken[], place: number | null): Problem | null {
  if (place !== null) return parseProblem(text, tokens, place)
  if (text.length > MAX_FORMULA_LENGTH) {
    return syntax(
      `A formula can have up to ${MAX_FORMULA_LENGTH} characters`,
      MAX_FORMULA_LENGTH,
      text.length,
    )
  }
  if (tokens.length === 0) return compound(0, text.length)
  const unknown = tokens.find(({ kind }) => kind === 'unknown')
  if (unknown) return unknownPiece(unknown)
  if (deepest(tokens) > MAX_NESTING) {
    return syntax(`A formula can be nested up to ${MAX_NESTING} levels`, 0, text.length)
  }
  if (tokens.filter(({ kind }) => kind === 'operator').length > MAX_OPERATORS) {
    return syntax(`A formula can have up to ${MAX_OPERATORS} operators`, 0, text.length)
  }
  return null
}

function parseProblem(text: string, tokens: FormulaToken[], place: number): Problem {
  const index = tokens.findIndex((token) => token.from >= place)
  const failed = index < 0 ? null : (tokens[index] ?? null)
  const before = tokens[(index < 0 ? tokens.length : index) - 1]
  const from = failed?.from ?? text.length
  const to = failed?.to ?? text.length
  if (before?.kind === 'operator' || before?.kind === 'comma') {
    return syntax(`Expected expression after ${before.text} at character ${from}`, from, to)
  }
  if (openBrackets(tokens, place) > 0) {
    if (before?.kind === 'open' && failed) {
      return syntax(`Expected expression after ( at character ${from}`, from, to)
    }
    return syntax(`Expected ) at character ${from}`, from, to)
  }
  if (failed && (before === undefined || failed.kind === 'close')) {
    return syntax(`Unexpected ${failed.text} at character ${from}`, from, to)
  }
  // One expression behind another, as in `1 2` or `1, 2`.
  return compound(from, to)
}

function unknownPiece({ text, from, to }: FormulaToken): Problem {
  const sign = text.charAt(0)
  if (sign === '{') return syntax(`Expected } at character ${to}`, from, to)
  if (sign === '"' || sign === "'") return syntax(`Unclosed quote at character ${from}`, from, to)
  return syntax(`Unexpected ${sign} at character ${from}`, from, to)
}

function deepest(tokens: FormulaToken[]): number {
  let [depth, most] = [0, 0]
  for (const { kind } of tokens) {
    if (kind === 'open') depth++
    else if (kind === 'close') depth--
    most = Math.max(most, depth)
  }
  return most
}

function openBrackets(tokens: FormulaToken[], before: number): number {
  const count = (kind: string) => tokens.filter((token) => token.kind === kind && token.from < before).length
  return count('open') - count('close')
}

const syntax = (message: string, from: number, to: number): Problem => ({
  type: 'SYNTAX_ERROR',
  message,
  from,
  to,
})

const compound = (from: number, to: number): Problem => ({
  type: 'NOT_SUPPORTED',
  message: 'Compound statement is not supported',
  from,
  to,
})
