import {
  type FormulaToken,
  formulaTokens,
  MAX_FORMULA_LENGTH,
  readReference,
  readString,
} from '../../../src/core/formula/index.ts'
import { m } from '../../../src/messages.gen.ts'

/** A formula of another product in the language of `src/core/formula`. */
export interface TranslatedFormula {
  /** The text, with `{{id}}` for each field. */
  formula(idOf: (fieldId: string) => string): string
  /** Fields of the source that it reads. */
  fieldIds: string[]
  readsClock: boolean
}

/** A part of a formula. */
export type Node =
  | { kind: 'literal'; text: string }
  | { kind: 'field'; fieldId: string }
  | { kind: 'call'; name: string; args: Node[] }
  | { kind: 'binary'; operator: string; left: Node; right: Node }
  | { kind: 'minus'; operand: Node }

/** Deepest nesting of a formula that is translated. */
const MAX_NESTING = 200

/** Most terms of one sum or product. */
const MAX_TERMS = 1000
/** Ids of fields here are shorter. */
const LONGEST_ID = 32

/** Why a formula cannot be translated, for the report. */
export class Untranslatable extends Error {}

/** What the formulas of a product mean. */
export interface FormulaDialect {
  /** The field of the formula's table that a formula names by id or title. */
  fieldNamed(name: string): string | undefined
  /** The function that names a field by its title in place of a reference in braces: `field('Price')`. */
  fieldFunction?: string
  /** A field in the units of the source. `reference` is the field here, such as a percentage where the source has a fraction. */
  writeField(fieldId: string, reference: string): string
  /** False where arithmetic with an empty number gives nothing; by default it counts as 0. */
  emptyIsZero?: boolean
  /** True for a field of truths, which count as 0 or 1 in arithmetic. */
  isTruth(fieldId: string): boolean
  /** Functions by their names in capitals. */
  calls: Readonly<Record<string, CallWriter>>
  /** Functions whose results depend on the time at which they are computed. */
  clockFunctions: ReadonlySet<string>
  /** Given where `+` joins texts: true for a field of texts. */
  isText?(fieldId: string): boolean
  /** Functions that give texts, for the same purpose. */
  textFunctions?: ReadonlySet<string>
}

/**
 * Translates a formula. What the source computes differently is written so that ours gives the same, such as an empty number
 * that counts as 0. Results are compared with the source afterwards.
 */
export function translateFormula(
  text: string,
  dialect: FormulaDialect,
): TranslatedFormula | { problem: string } {
  try {
    if (text.trim() === '') throw new Untranslatable(m.base_imports_reason_no_formula())
    if (text.length > MAX_FORMULA_LENGTH) throw new Untranslatable(m.base_imports_reason_long_formula())
    const parsed = parseFormula(text, dialect)
    const read = new Set<string>()
    const names = new Set<string>()
    visit(parsed, (node) => {
      if (node.kind === 'field') read.add(node.fieldId)
      if (node.kind === 'call') names.add(node.name)
    })
    // Translated once here, so that it fails before anything is created.
    write(parsed, dialect, (id) => id.padEnd(LONGEST_ID, '_'))
    return {
      formula: (idOf) => write(parsed, dialect, idOf),
      fieldIds: [...read],
      readsClock: [...names].some((name) => dialect.clockFunctions.has(name)),
    }
  } catch (error) {
    if (error instanceof Untranslatable) return { problem: error.message }
    throw error
  }
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node)
  if (node.kind === 'call') for (const arg of node.args) visit(arg, see)
  if (node.kind === 'minus') visit(node.operand, see)
  if (node.kind === 'binary') {
    visit(node.left, see)
    visit(node.right, see)
  }
}

/** Binary operators by how tightly they bind. */
const BINDING: Record<string, number> = {
  '||': 1,
  '&&': 2,
  '=': 3,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '&': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
}

/** The tokens without spaces, `&&` and `||` as one. */
function operatorTokens(text: string): FormulaToken[] {
  const tokens: FormulaToken[] = []
  for (const token of formulaTokens(text)) {
    const last = tokens.at(-1)
    const isDoubled = token.text === '&' || token.text === '|'
    if (isDoubled && last?.text === token.text && last.to === token.from) {
      tokens[tokens.length - 1] = { ...last, text: last.text + token.text, to: token.to }
    } else if (token.kind !== 'space') tokens.push(token)
  }
  return tokens
}

/** @throws Untranslatable */
function parseFormula(text: string, { fieldNamed, fieldFunction }: FormulaDialect): Node {
  const tokens = operatorTokens(text)
  let at = 0

  const unreadable = (token: FormulaToken | undefined): Untranslatable =>
    new Untranslatable(
      m.base_imports_reason_unreadable({ text: (token?.text ?? text.slice(-20)).slice(0, 40) }),
    )

  function take(kind: FormulaToken['kind']): FormulaToken {
    const token = tokens[at]
    if (token?.kind !== kind) throw unreadable(token)
    at += 1
    return token
  }

  function binary(least: number, depth: number): Node {
    if (depth > MAX_NESTING) throw new Untranslatable(m.base_imports_reason_long_formula())
    let left = unary(depth)
    for (let terms = 1; ; terms++) {
      if (terms > MAX_TERMS) throw new Untranslatable(m.base_imports_reason_long_formula())
      const token = tokens[at]
      const binding = token?.kind === 'operator' ? BINDING[token.text] : undefined
      if (token === undefined || binding === undefined || binding < least) return left
      at += 1
      left = { kind: 'binary', operator: token.text, left, right: binary(binding + 1, depth + 1) }
    }
  }

  function unary(depth: number): Node {
    const token = tokens[at]
    if (token?.kind !== 'operator' || (token.text !== '-' && token.text !== '+')) return primary(depth)
    at += 1
    const operand = unary(depth + 1)
    return token.text === '-' ? { kind: 'minus', operand } : operand
  }

  function primary(depth: number): Node {
    const token = tokens[at]
    at += 1
    switch (token?.kind) {
      case 'number':
      case 'string':
        return { kind: 'literal', text: token.text }
      case 'literal':
        return { kind: 'literal', text: token.text.toLowerCase() }
      case 'reference':
      case 'name':
        return fieldNode(readReference(token.text).name)
      case 'open': {
        const inner = binary(1, depth + 1)
        take('close')
        return inner
      }
      case 'function': {
        const call: Node = { kind: 'call', name: token.text.toUpperCase(), args: argumentsOf(depth + 1) }
        const title = call.name === fieldFunction ? literalText(call.args[0]) : null
        return title === null ? call : fieldNode(title)
      }
      default:
        throw unreadable(token)
    }
  }

  function fieldNode(name: string): Node {
    const fieldId = fieldNamed(name)
    if (fieldId === undefined)
      throw new Untranslatable(m.base_imports_reason_unknown_field({ field: name.slice(0, 100) }))
    return { kind: 'field', fieldId }
  }

  function argumentsOf(depth: number): Node[] {
    take('open')
    const args: Node[] = []
    if (tokens[at]?.kind === 'close') {
      at += 1
      return args
    }
    for (;;) {
      args.push(binary(1, depth))
      const token = tokens[at]
      at += 1
      if (token?.kind === 'close') return args
      if (token?.kind !== 'comma') throw unreadable(token)
    }
  }

  const whole = binary(1, 0)
  if (at < tokens.length) throw unreadable(tokens[at])
  return whole
}

type IdOf = (fieldId: string) => string

export interface NodeWriter {
  text(node: Node): string
  /** As an operand of arithmetic: an empty one counts as 0. */
  number(node: Node): string
}

/** Writes a call from its arguments. @throws Untranslatable */
export type CallWriter = (args: Node[], write: NodeWriter) => string

/** @throws Untranslatable also for a text that is too long: some calls write an argument twice */
function write(node: Node, dialect: FormulaDialect, idOf: IdOf): string {
  const text = writeNode(node, dialect, idOf)
  if (text.length > MAX_FORMULA_LENGTH) throw new Untranslatable(m.base_imports_reason_long_formula())
  return text
}

function writeNode(node: Node, dialect: FormulaDialect, idOf: IdOf): string {
  const writer: NodeWriter = {
    text: (inner) => write(inner, dialect, idOf),
    number: (inner) => orZero(inner, dialect, idOf),
  }
  switch (node.kind) {
    case 'literal':
      return node.text
    case 'field':
      return dialect.writeField(node.fieldId, `{{${idOf(node.fieldId)}}}`)
    case 'minus':
      return `(0 - ${writer.number(node.operand)})`
    case 'binary':
      return isJoin(node, dialect)
        ? `CONCAT(${writer.text(node.left)}, ${writer.text(node.right)})`
        : writeBinary(node, writer)
    case 'call': {
      const call = dialect.calls[node.name]
      if (!call)
        throw new Untranslatable(m.base_imports_reason_function({ function: node.name.slice(0, 60) }))
      return call(node.args, writer)
    }
  }
}

/** True for `+` between texts, in products that join them so. */
const isJoin = ({ operator, left, right }: Extract<Node, { kind: 'binary' }>, dialect: FormulaDialect) =>
  operator === '+' && dialect.isText !== undefined && (isText(left, dialect) || isText(right, dialect))

function isText(node: Node | undefined, dialect: FormulaDialect): boolean {
  switch (node?.kind) {
    case 'literal':
      return /^["']/.test(node.text)
    case 'field':
      return dialect.isText?.(node.fieldId) ?? false
    case 'binary':
      return node.operator === '&' || isJoin(node, dialect)
    case 'call':
      return node.name === 'IF'
        ? isText(node.args[1], dialect)
        : (dialect.textFunctions?.has(node.name) ?? false)
    default:
      return false
  }
}

/** Operators with a function here. */
const OPERATOR_FUNCTIONS: Record<string, string> = { '&&': 'AND', '||': 'OR', '%': 'MOD' }

function writeBinary(
  { operator, left, right }: Extract<Node, { kind: 'binary' }>,
  { text, number }: NodeWriter,
): string {
  const operand = '+-*/%'.includes(operator) ? number : text
  const name = OPERATOR_FUNCTIONS[operator]
  if (name !== undefined) return `${name}(${operand(left)}, ${operand(right)})`
  return `(${operand(left)} ${operator} ${operand(right)})`
}

function orZero(node: Node, dialect: FormulaDialect, idOf: IdOf): string {
  const text = write(node, dialect, idOf)
  if (dialect.emptyIsZero === false) return text
  const mayBeEmpty =
    node.kind === 'field' || (node.kind === 'call' && ['IF', 'SWITCH', 'BLANK', 'VALUE'].includes(node.name))
  if (!mayBeEmpty) return text
  if (node.kind === 'field' && dialect.isTruth(node.fieldId)) return `IF(${text}, 1, 0)`
  return `IF(ISBLANK(${text}), 0, ${text})`
}

/** A call with the same arguments. */
export const same =
  (name: string): CallWriter =>
  (args, { text }) =>
    `${name}(${args.map(text).join(', ')})`

export const numeric =
  (name: string): CallWriter =>
  (args, { number }) =>
    `${name}(${args.map(number).join(', ')})`

/** The text of a literal argument. */
export function literalText(node: Node | undefined): string | null {
  return node?.kind === 'literal' && /^["']/.test(node.text) ? readString(node.text) : null
}

/** Arguments that have no counterpart here. */
export const wrongArguments = (name: string): Untranslatable =>
  new Untranslatable(m.base_imports_reason_arguments({ function: name }))

/** @throws Untranslatable for fewer arguments */
export function required(args: Node[], count: number, name: string): Node[] {
  if (args.length < count) throw wrongArguments(name)
  return args
}

/** A function without a counterpart. */
export const unsupported =
  (reason: () => string): CallWriter =>
  () => {
    throw new Untranslatable(reason())
  }
