import type { Expression, FormulaField, Problem, SyntaxNode, ValueType } from './ast.ts'
import { checkCall } from './check-call.ts'
import type { CheckContext, FoundReference, NodeChecker } from './check-context.ts'
import { checkCircle } from './circle.ts'
import { convertTo, joinCompared, limitWithin } from './conversions.ts'
import { typeOfForm } from './fields.ts'
import { findFunction } from './functions/index.ts'
import { measureFormula } from './measure.ts'
import { NEGATION, operationOf } from './operators.ts'
import { parseFormula } from './parse.ts'
import { CELL_LIMIT } from './semantics.ts'

/** A formula that can be computed, or all that is wrong with it, the first problem first. */
export type CheckedFormula =
  | {
      ok: true
      expression: Expression
      /** `null` for a formula that only gives null. */
      type: ValueType
      /** Ids of the fields that it names, each once. */
      references: string[]
      tree: SyntaxNode
      /** The types of the tree's nodes. */
      types: ReadonlyMap<SyntaxNode, ValueType>
    }
  | { ok: false; problems: Problem[] }

/**
 * Reads and checks a formula, with `{Title}` or `{{fieldId}}` references, in the words of spec §5 and §8. Never
 * throws, whatever the text.
 */
export function checkFormula(text: string, context: CheckContext): CheckedFormula {
  const parsed = parseFormula(text)
  if (!parsed.ok) return parsed
  const checker = new FormulaChecker(context)
  const expression = checker.check(parsed.tree)
  const problems = [...checker.problems, ...checkCircle(checker.references, context)]
  if (expression === null || problems.length > 0) return { ok: false, problems }
  const finished = limitWithin(expression)
  const tooLarge = measureFormula(finished)
  if (tooLarge)
    return { ok: false, problems: [{ type: 'NOT_SUPPORTED', message: tooLarge, from: 0, to: text.length }] }
  return {
    ok: true,
    expression: finished,
    type: expression.type,
    references: [...new Set(checker.references.map(({ field }) => field.id))],
    tree: parsed.tree,
    types: checker.types,
  }
}

/** Settles names and types from the leaves up. A null has a problem already. */
export class FormulaChecker implements NodeChecker {
  readonly problems: Problem[] = []
  readonly references: FoundReference[] = []
  readonly types = new Map<SyntaxNode, ValueType>()
  private readonly byId: Map<string, FormulaField>
  private readonly byTitle: Map<string, FormulaField>

  constructor(private readonly context: CheckContext) {
    this.byId = new Map(context.fields.map((field) => [field.id, field]))
    this.byTitle = new Map(context.fields.map((field) => [field.title, field]))
  }

  check(node: SyntaxNode): Expression | null {
    const expression = this.checkNode(node)
    if (expression) this.types.set(node, expression.type)
    return expression
  }

  /** Notes a problem at a node. */
  refuse(node: SyntaxNode, type: Problem['type'], message: string): null {
    this.problems.push({ type, message, from: node.from, to: node.to })
    return null
  }

  private checkNode(node: SyntaxNode): Expression | null {
    switch (node.kind) {
      case 'literal':
        return this.literal(node)
      case 'reference':
        return this.reference(node)
      case 'unary':
        return this.unary(node)
      case 'call':
        return this.call(node)
      case 'binary':
        return this.binary(node)
    }
  }

  private literal(node: SyntaxNode & { kind: 'literal' }): Expression | null {
    const { value } = node
    if (value === null) return { kind: 'literal', type: 'null', value, range: NO_RANGE }
    if (typeof value === 'string') return { kind: 'literal', type: 'text', value, range: NO_RANGE }
    if (typeof value === 'boolean') return { kind: 'literal', type: 'boolean', value, range: NO_RANGE }
    if (!(Math.abs(value) < CELL_LIMIT)) {
      return this.refuse(node, 'INVALID_ARG_VALUE', `The number ${node.raw} is too large`)
    }
    const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
    if (power < -30) return { kind: 'literal', type: 'number', value: 0, range: NO_RANGE }
    return { kind: 'literal', type: 'number', value, range: { max: power + 1, min: power - 1 } }
  }

  private reference(node: SyntaxNode & { kind: 'reference' }): Expression | null {
    const field = node.isId
      ? this.byId.get(node.name)
      : (this.byTitle.get(node.name) ?? this.byId.get(node.name))
    if (!field) {
      return this.refuse(node, 'INVALID_COLUMN', `Invalid column name/id ${node.name} in formula`)
    }
    this.references.push({ field, from: node.from, to: node.to })
    const type = typeOfForm(field.form)
    if (field.isBroken) return { kind: 'literal', type, value: null, range: NO_RANGE }
    return { kind: 'field', type, field, range: { max: 30, min: -30 } }
  }

  private call(node: SyntaxNode & { kind: 'call' }): Expression | null {
    const found = findFunction(node.name)
    const message = `Function ${node.name} is not available`
    if (!found) return this.refuse(node, 'INVALID_FUNCTION_NAME', message)
    if (found.unavailable?.includes(this.context.client)) return this.refuse(node, 'NOT_AVAILABLE', message)
    return checkCall(node, found, this)
  }

  private unary(node: SyntaxNode & { kind: 'unary' }): Expression | null {
    if (node.operator !== '-') {
      return this.refuse(node, 'NOT_SUPPORTED', `Unary expression '${node.operator}' is not supported`)
    }
    const operand = this.check(node.operand)
    if (!operand) return null
    const number = convertTo(operand, 'number')
    if (!number) return this.refuse(node.operand, 'TYPE_MISMATCH', 'Numeric type is expected')
    return { kind: 'call', name: NEGATION, type: 'number', args: [number], range: number.range }
  }

  private binary(node: SyntaxNode & { kind: 'binary' }): Expression | null {
    const [left, right] = [this.check(node.left), this.check(node.right)]
    if (!left || !right) return null
    const { args: kinds, returns, range } = operationOf(node.operator)
    if (kinds[0] === 'match') {
      const args = joinCompared([left, right])
      return { kind: 'call', name: node.operator, type: 'boolean', args, range: NO_RANGE }
    }
    const sides = [
      { side: left, node: node.left },
      { side: right, node: node.right },
    ]
    const converted = sides.map(({ side, node: at }) => {
      const expression = convertTo(side, kinds[0] ?? 'any')
      return expression ?? this.refuse(at, 'TYPE_MISMATCH', 'Numeric type is expected')
    })
    let args = converted.filter((arg) => arg !== null)
    if (args.length < 2) return null
    const type =
      typeof returns === 'string'
        ? returns
        : returns(
            args.map((arg) => arg.type),
            args,
          )
    if (!range) return { kind: 'call', name: node.operator, type, args, range: NO_RANGE }
    let result = range(args.map((arg) => arg.range))
    if (result.max > SAFE || result.min < -SAFE) {
      args = args.map((arg) => limitWithin(arg))
      result = range(args.map((arg) => arg.range))
    }
    return { kind: 'call', name: node.operator, type, args, range: result }
  }
}

const NO_RANGE = { max: 0, min: 0 }
/** Powers of ten that a double holds with room for one more step. */
const SAFE = 250
