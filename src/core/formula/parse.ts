import { alt_sc, apply, kmid, list_sc, lrec_sc, opt_sc, rule, seq, type Token, tok } from 'typescript-parsec'
import type { BinaryOperator, Problem, SyntaxNode } from './ast.ts'
import { syntaxProblem } from './syntax-problem.ts'
import { type FormulaToken, formulaTokens, readReference, readString, type TokenKind } from './tokens.ts'

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
 * The tree of a formula. Never throws, whatever the text: what is no formula comes back as one problem with its
 * place, in the words of the wire reference §8.3.
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
  const place = output.error?.pos?.index ?? text.length
  const unread = output.successful ? (output.candidates[0]?.nextToken?.pos.index ?? 0) : 0
  const problem = syntaxProblem(text, tokens, Math.max(place, unread))
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
