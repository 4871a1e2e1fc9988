import type { CellValue } from '../core/fields/field-type.ts'
import type { FormulaField, SyntaxNode, ValueType } from '../core/formula/ast.ts'
import { type CheckedFormula, TYPE_NAMES } from '../core/formula/check.ts'

/** A node of REST's formula tree (wire §8.1). */
type ParsedNode = { dataType: string } & (
  | { type: 'Literal'; value: CellValue; raw: string }
  | { type: 'Identifier'; name: string; raw: string }
  | { type: 'CallExpression'; callee: { type: 'Identifier'; name: string }; arguments: ParsedNode[] }
  | { type: 'UnaryExpression'; operator: string; argument: ParsedNode; prefix: true }
  | { type: 'BinaryExpression'; operator: string; left: ParsedNode; right: ParsedNode }
)

/** The whole tree; its root tells whether the formula is a single reference. */
export type ParsedTree = ParsedNode & {
  referencedColumn?: { id: string; uidt: string }
  uidtCandidates?: string[]
  invalidForReferenceColumn?: boolean
}

/** The tree of a valid formula, with the type of each node. */
export function parsedTree(
  formula: Extract<CheckedFormula, { ok: true }>,
  fields: readonly FormulaField[],
): ParsedTree {
  const { tree, types } = formula
  const find = (name: string) => fields.find(({ id, title }) => id === name || title === name)
  const root = present(tree, types, find)
  const field = tree.kind === 'reference' ? find(tree.name) : undefined
  if (!field) return root
  const { id, type } = field
  return {
    ...root,
    referencedColumn: { id, uidt: type },
    uidtCandidates: [type],
    invalidForReferenceColumn: false,
  }
}

function present(
  node: SyntaxNode,
  types: ReadonlyMap<SyntaxNode, ValueType>,
  find: (name: string) => FormulaField | undefined,
): ParsedNode {
  const dataType = TYPE_NAMES[types.get(node) ?? 'null']
  const inner = (child: SyntaxNode) => present(child, types, find)
  switch (node.kind) {
    case 'literal':
      return { type: 'Literal', value: node.value, raw: node.raw, dataType }
    case 'reference': {
      const name = find(node.name)?.id ?? node.name
      return { type: 'Identifier', name, raw: `{{${name}}}`, dataType }
    }
    case 'call': {
      const callee = { type: 'Identifier' as const, name: node.name }
      const isConditional = node.name === 'IF' || node.name === 'SWITCH'
      return {
        type: 'CallExpression',
        callee,
        arguments: node.args.map(inner),
        dataType: isConditional ? 'conditional_expression' : dataType,
      }
    }
    case 'binary':
      return {
        type: 'BinaryExpression',
        operator: node.operator,
        left: inner(node.left),
        right: inner(node.right),
        dataType,
      }
    case 'unary':
      return {
        type: 'UnaryExpression',
        operator: node.operator,
        argument: inner(node.operand),
        prefix: true,
        dataType,
      }
  }
}
