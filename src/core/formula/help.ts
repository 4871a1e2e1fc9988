import type { CellValue } from '../fields/field-type.ts'
import { FUNCTIONS } from './functions/index.ts'
import { formulaTokens } from './tokens.ts'

/** A function's documentation as the editor shows it. */
export interface FormulaHelp {
  name: string
  /** `ROUND(number, [digits])` */
  syntax: string
  help: string
  /** Formulas with what they give. */
  examples: { formula: string; result: CellValue }[]
}

/** The functions that a database has, by name, for completion and help. */
export function formulaFunctions(client: string): FormulaHelp[] {
  return FUNCTIONS.filter(({ unavailable }) => !unavailable?.includes(client))
    .map(({ name, syntax, help, examples }) => ({
      name,
      syntax,
      help: help(),
      examples: Object.entries(examples).map(([formula, result]) => ({ formula, result })),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The call around a place in the text, and which of its arguments stands there, counted from 0; null outside of
 * calls. The text need not be a whole formula.
 */
export function signatureAt(text: string, position: number): { name: string; argument: number } | null {
  const open: { name: string | null; argument: number }[] = []
  let before: { kind: string; text: string } | null = null
  for (const token of formulaTokens(text)) {
    if (token.from >= position) break
    if (token.kind === 'space') continue
    const last = open.at(-1)
    if (token.kind === 'open') {
      open.push({ name: before?.kind === 'function' ? before.text.toUpperCase() : null, argument: 0 })
    } else if (token.kind === 'close') open.pop()
    else if (token.kind === 'comma' && last) last.argument++
    before = token
  }
  const call = open.findLast(({ name }) => name !== null)
  return call?.name ? { name: call.name, argument: call.argument } : null
}
