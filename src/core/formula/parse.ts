import { alt_sc, apply, kmid, list_sc, lrec_sc, opt_sc, rule, seq, type Token, tok } from 'typescript-parsec'
import type { BinaryOperator, Problem, SyntaxNode } from './ast.ts'
import {
  type FormulaToken,
  formulaTokens,
  MAX_FORMULA_LENGTH,
  readReference,
  readString,
  type TokenKind,
} from './tokens.ts'

/** A formula's tree, or what is wrong with its text. */
export type ParsedFormula = { ok: true; tree: SyntaxNode } | { ok: false; problems: Problem[] }

/** Operators by how they bind, loosest first. */
type Kind = TokenKind | 'compare' | 'join' | 'sum' | 'product' | 'sign'

const OPERATORS: Record<string, { kind: Kind; operator: BinaryOperator }> = {
  '=': { kind: 'compare', operator: '=' },
  '==': { kind: 'compare', operator: '=' },
  '!=': { kind: 'compare', operator: '!=' },
  '<>': { kind: 'compare', operator: '!=' },
  '<': { kind: 'compare', operator: '<' },
  '<=': { kind: 'compare', operator: '<=' },
  '>': { kind: 'compare', operator: '>' },
  '>=': { kind: 'compare', operator: '>=' },
  '&': { kind: 'join', operator: '&' },
  '+': { kind: 'sum', operator: '+' },
  '-': { kind: 'sum', operator: '-' },
  '*': { kind: 'product', operator: '*' },
  '/': { kind: 'product', operator: '/' },
  '%': { kind: 'product', operator: '%' },
}

const node = rule<Kind, SyntaxNode>()
const primary = rule<Kind, SyntaxNode>()

const literal = alt_sc(
  apply(tok<Kind>('number'), (token) =>
    at(token, { kind: 'literal', value: Number(token.text), raw: token.text }),
  ),
  apply(tok<Kind>('string'), (token) =>
    at(token, { kind: 'literal', value: readString(token.text), raw: token.text }),
  ),
  apply(tok<Kind>('literal'), (token) =>
    at(token, { kind: 'literal', value: word(token.text), raw: token.text }),
  ),
)

const reference = apply(alt_sc(tok<Kind>('reference'), tok<Kind>('name')), (token) =>
  at(token, { kind: 'reference', ...readReference(token.text) }),
)

const call = apply(
  seq(
    tok<Kind>('function'),
    tok<Kind>('open'),
    opt_sc(list_sc(node, tok<Kind>('comma'))),
    tok<Kind>('close'),
  ),
  ([name, , args, close]): SyntaxNode => ({
    kind: 'call',
    name: name.text.toUpperCase(),
    args: args ?? [],
    from: name.pos.index,
    to: close.pos.index + 1,
  }),
)

const unary = apply(
  seq(alt_sc(tok<Kind>('sign'), tok<Kind>('sum')), primary),
  ([sign, operand]): SyntaxNode => {
    const span = { from: sign.pos.index, to: operand.to }
    if (sign.text === '-' && operand.kind === 'literal' && typeof operand.value === 'number') {
      return { kind: 'literal', value: -operand.value, raw: `-${operand.raw}`, ...span }
    }
    return { kind: 'unary', operator: sign.text, operand, ...span }
  },
)

primary.setPattern(alt_sc(literal, call, reference, kmid(tok<Kind>('open'), node, tok<Kind>('close')), unary))

const level = (
  kind: Kind,
  operand:
    | typeof primary
    | ReturnType<typeof lrec_sc<Kind, SyntaxNode, SyntaxNode, [Token<Kind>, SyntaxNode]>>,
) => lrec_sc(operand, seq(tok<Kind>(kind), operand), binary)

node.setPattern(level('compare', level('join', level('sum', level('product', primary)))))

function binary(left: SyntaxNode, [sign, right]: [Token<Kind>, SyntaxNode]): SyntaxNode {
  const operator = OPERATORS[sign.text]?.operator ?? '='
  return { kind: 'binary', operator, left, right, from: left.from, to: right.to }
}

const at = (token: Token<Kind>, rest: Leaf): SyntaxNode => ({
  ...rest,
  from: token.pos.index,
  to: token.pos.index + token.text.length,
})

type Leaf =
  | { kind: 'literal'; value: string | number | boolean | null; raw: string }
  | { kind: 'reference'; name: string; isId: boolean }

const word = (text: string): boolean | null => {
  const lower = text.toLowerCase()
  return lower === 'null' ? null : lower === 'true'
}

/**
 * Parses a formula. Never throws: text that is not a formula gives one problem with its
 * position, in the wording of the wire §8.3.
 */
export function parseFormula(text: string): ParsedFormula {
  const tokens = formulaTokens(text).filter((token) => token.kind !== 'space')
  const refused = syntaxProblem(text, tokens, null)
  if (refused) return { ok: false, problems: [refused] }
  const output = node.parse(linked(tokens))
  const done = output.successful
    ? output.candidates.find(({ nextToken }) => nextToken === undefined)
    : undefined
  if (done) return { ok: true, tree: done.result }
  const errorAt = output.error?.pos?.index ?? text.length
  const unread = output.successful ? (output.candidates[0]?.nextToken?.pos.index ?? 0) : 0
  const problem = syntaxProblem(text, tokens, Math.max(errorAt, unread))
  return { ok: false, problems: problem ? [problem] : [] }
}

/** The tokens as the parser wants them: each knows the next. */
function linked(tokens: FormulaToken[]): Token<Kind> | undefined {
  let next: Token<Kind> | undefined
  for (const token of [...tokens].reverse()) {
    const kind: Kind = token.kind === 'operator' ? (OPERATORS[token.text]?.kind ?? 'sign') : token.kind
    const pos = { index: token.from, rowBegin: 1, columnBegin: token.from, rowEnd: 1, columnEnd: token.to }
    next = { kind, text: token.text, pos, next }
  }
  return next
}

/** Brackets within brackets. */
const MAX_NESTING = 64
/** Operators in one formula: a chain of them is as deep as it is long. */
const MAX_OPERATORS = 250

/**
 * Why a formula's text cannot be parsed. `errorAt` is where the parser failed; null before it has
 * run: then only problems of the tokens are reported, and null if there is none.
 */
function syntaxProblem(text: string, tokens: FormulaToken[], errorAt: number | null): Problem | null {
  if (errorAt !== null) return parseProblem(text, tokens, errorAt)
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

function parseProblem(text: string, tokens: FormulaToken[], errorAt: number): Problem {
  const index = tokens.findIndex((token) => token.from >= errorAt)
  const failed = index < 0 ? null : (tokens[index] ?? null)
  const before = tokens[(index < 0 ? tokens.length : index) - 1]
  const from = failed?.from ?? text.length
  const to = failed?.to ?? text.length
  if (before?.kind === 'operator' || before?.kind === 'comma') {
    return syntax(`Expected expression after ${before.text} at character ${from}`, from, to)
  }
  if (openBrackets(tokens, errorAt) > 0) {
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
