import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { checkFormula, formulaField, toShown } from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { type ParsedTree, parsedTree } from '../../../src/wire/parsed-formula.ts'
import { hasFormula } from '../fields/index.ts'
import type { WireColumn } from './wire-column.ts'

/** What of a button stands in a column as it is, by the names of both sides. */
const BUTTON_KEYS: Record<string, string> = {
  type: 'kind',
  label: 'label',
  theme: 'theme',
  color: 'color',
  icon: 'icon',
  fk_webhook_id: 'webhookId',
}

/**
 * What a column says of a formula or a button. `formula_raw` goes before `formula`: a client that changes the one
 * sends the other back as it was.
 */
export function formulaOptions(column: WireColumn, type: FieldTypeName): FieldOptions {
  if (!hasFormula(type)) return {}
  const text = [column.formula_raw, column.formula].find((value) => typeof value === 'string')
  const options: FieldOptions = text === undefined ? {} : { formula: text }
  if (fieldType(type).computed !== 'button') return options
  for (const [key, option] of Object.entries(BUTTON_KEYS)) {
    const value = column[key]
    if (typeof value === 'string' && value !== '') options[option] = value
    else if (value === null && (key === 'icon' || key === 'fk_webhook_id')) options[option] = null
  }
  return options
}

/** The table of a formula: its fields, and what its database can do. */
export interface FormulaSurroundings {
  fields: readonly Field[]
  client: string
}

/** `colOptions` of a formula or a button beside its ids and times (wire reference §8.1). */
export function presentFormula(field: Field, { fields, client }: FormulaSurroundings) {
  const stored = formulaOf(field).formula
  const named = fields.map(formulaField)
  const checked = stored === '' ? null : checkFormula(stored, { fields: named, client })
  const tree = checked?.ok ? parsedTree(checked, named) : null
  const formula = {
    formula: stored === '' ? null : tree ? writeTree(tree) : stored,
    formula_raw: stored === '' ? null : toShown(stored, fields),
    parsed_tree: tree,
    error: field.error,
  }
  if (fieldType(field.type).computed !== 'button') return formula
  const { kind, label, theme, color, icon, webhookId } = field.options
  return {
    type: kind,
    label: label || null,
    theme,
    color,
    icon,
    ...formula,
    fk_webhook_id: webhookId,
    fk_integration_id: null,
    model: null,
    output_column_ids: null,
    fk_workspace_id: null,
  }
}

/** A formula written out as clients know it: text in double quotes, and a bracket around every operation. */
function writeTree(node: ParsedTree): string {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? quoted(node.value) : node.raw
    case 'Identifier':
      return node.raw
    case 'CallExpression':
      return `${node.callee.name}(${node.arguments.map(writeTree).join(', ')})`
    case 'UnaryExpression':
      return `(${node.operator}${writeTree(node.argument)})`
    case 'BinaryExpression':
      return `(${writeTree(node.left)} ${node.operator} ${writeTree(node.right)})`
  }
}

const SIGNS: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' }

const quoted = (text: string): string => `"${text.replace(/[\n\t\r"\\]/g, (sign) => SIGNS[sign] ?? sign)}"`
