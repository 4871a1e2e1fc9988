import { badRequest } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { hasFormula } from '../../../src/core/fields/traits.ts'
import { checkFormula, formulaField, toShown } from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import { type ParsedTree, parsedTree } from '../../../src/wire/parsed-formula.ts'
import { refusal } from '../computed/index.ts'
import type { StoredField } from '../model/index.ts'
import type { WireColumn } from './wire-column-storage.ts'

/** Fields and tables that the `colOptions` of a table's columns refer to. */
export interface WireContext {
  /** The primary key field of a table; null for an unreachable one. */
  primaryKeyOf: (tableId: string) => string | null
  fields: readonly Field[]
  /** The client of the table's database, which determines the functions of formulas. */
  client: string
}

/** The options of computed types by their names in REST. */
const KEYS: Partial<Record<FieldTypeName, Record<string, string>>> = {
  Lookup: { fk_relation_column_id: 'relationFieldId', fk_lookup_column_id: 'targetFieldId' },
  Rollup: {
    fk_relation_column_id: 'relationFieldId',
    fk_rollup_column_id: 'targetFieldId',
    rollup_function: 'function',
  },
  Count: { fk_relation_column_id: 'relationFieldId' },
  QrCode: { fk_qr_value_column_id: 'valueFieldId' },
  Barcode: { fk_barcode_value_column_id: 'valueFieldId' },
}

/** Keys that are always null: the format of a barcode is in the column's `meta`. */
const CONSTANTS: Partial<Record<FieldTypeName, Record<string, null>>> = { Barcode: { barcode_format: null } }

/** The prefixes of the ids of `colOptions` (wire §1.5). */
const PREFIXES: Partial<Record<FieldTypeName, string>> = {
  Lookup: 'lk',
  Rollup: 'rl',
  Count: 'rl',
  QrCode: 'nc',
  Barcode: 'nc',
  Formula: 'f',
  Button: 'btn',
}

/**
 * Reads the options of a computed field; a new field must have all of them.
 *
 * @throws BAD_REQUEST `Missing 'fk_relation_column_id' property in request body`
 */
export function computedOptions(column: WireColumn, type: FieldTypeName, isNew: boolean): FieldOptions {
  const options = formulaOptions(column, type)
  for (const [key, option] of Object.entries(KEYS[type] ?? {})) {
    const value = column[key]
    if (typeof value === 'string' && value !== '') options[option] = value.slice(0, 64)
    else if (isNew) throw missing(key)
  }
  return options
}

const missing = (key: string) => refusal(`Missing '${key}' property in request body`)

/** A new link: the table that gets the field, and the field's options. */
export interface WireLink {
  tableId: string
  options: FieldOptions
}

/**
 * Reads `parentId`, `childId` and `type` (wire §8.2). The field goes to the parent, or for `bt` to the child.
 *
 * @throws BAD_REQUEST naming the missing property, or if neither id is the table itself
 */
export function readWireLink(column: WireColumn, tableId: string): WireLink {
  const text = (key: string): string => {
    const value = column[key]
    if (typeof value !== 'string' || value === '') throw missing(key)
    return value.slice(0, 64)
  }
  const [parentId, childId, kind] = [text('parentId'), text('childId'), text('type')]
  if (!['hm', 'bt', 'mm', 'oo'].includes(kind)) {
    throw badRequest(`The relation type must be hm, bt, mm or oo, got '${kind}'`)
  }
  if (parentId !== tableId && childId !== tableId) {
    throw badRequest(`One of 'parentId' and 'childId' must be the table itself`)
  }
  const [ownTableId, relatedTableId] = kind === 'bt' ? [childId, parentId] : [parentId, childId]
  return { tableId: ownTableId, options: { kind, relatedTableId } }
}

/**
 * Reads the relation for a conversion of a column to a link; empty if the body has none.
 *
 * @throws BAD_REQUEST as `readWireLink`, and for a link field in the other table
 */
export function readWireRelation(column: WireColumn, tableId: string): FieldOptions {
  if (['parentId', 'childId', 'type'].every((key) => column[key] === undefined)) return {}
  const link = readWireLink(column, tableId)
  if (link.tableId === tableId) return link.options
  throw badRequest("The column's own table is the 'childId' of a bt, and the 'parentId' of any other link")
}

/** The `colOptions` of a computed field (wire §8.1, §8.2); undefined for other fields. */
export function presentComputed(field: StoredField, baseId: string, context: WireContext) {
  const link = linkOf(field)
  if (link) return presentLink(field, link, baseId, context)
  if (hasFormula(field)) {
    return {
      id: idOf(field, PREFIXES[field.type] ?? 'f'),
      fk_column_id: field.id,
      ...presentFormula(field, context),
      deleted: null,
      order: 1,
      ...timesOf(field),
      base_id: baseId,
    }
  }
  const keys = KEYS[field.type]
  if (!keys) return undefined
  return {
    id: idOf(field, PREFIXES[field.type] ?? 'lk'),
    fk_column_id: field.id,
    ...Object.fromEntries(Object.entries(keys).map(([key, option]) => [key, field.options[option] ?? null])),
    ...(field.error !== null && { error: field.error }),
    ...CONSTANTS[field.type],
    deleted: null,
    ...timesOf(field),
    base_id: baseId,
  }
}

function presentLink(field: StoredField, link: LinkOptions, baseId: string, { primaryKeyOf }: WireContext) {
  const { junction } = link
  return {
    virtual: true,
    id: idOf(field, 'l'),
    ref_db_alias: null,
    type: link.kind,
    db_type: null,
    fk_column_id: field.id,
    fk_related_model_id: link.relatedTableId,
    fk_child_column_id: junction ? primaryKeyOf(field.tableId) : link.keyFieldId,
    fk_parent_column_id: junction ? primaryKeyOf(link.relatedTableId) : link.parentFieldId,
    fk_mm_model_id: junction?.tableId ?? null,
    fk_mm_child_column_id: junction?.ownFieldId ?? null,
    fk_mm_parent_column_id: junction?.relatedFieldId ?? null,
    ur: null,
    dr: null,
    fk_index_name: null,
    deleted: null,
    ...timesOf(field),
    fk_target_view_id: link.viewId,
    base_id: baseId,
    fk_related_base_id: null,
    fk_mm_base_id: null,
    fk_related_source_id: null,
    fk_mm_source_id: null,
    ...(fieldType(field.type).linkAnswer === 'count' && { rollup_function: 'count' }),
  }
}

/** The id of `colOptions`, derived from the field's id. */
const idOf = (field: StoredField, prefix: string): string => prefix + field.id.slice(1)

const timesOf = ({ createdAt, updatedAt }: StoredField) => ({
  created_at: wireTime(createdAt),
  updated_at: wireTime(updatedAt),
})

/** The `column_name` of a field without a column: its title, or null for links and system fields (§8.1). */
export const virtualName = (field: Pick<StoredField, 'type' | 'title'>): string | null => {
  const { computed } = fieldType(field.type)
  return computed === undefined || computed === 'link' ? null : field.title
}

/** The options of a button by their names in REST. */
const BUTTON_KEYS: Record<string, string> = {
  type: 'kind',
  label: 'label',
  theme: 'theme',
  color: 'color',
  icon: 'icon',
  fk_webhook_id: 'webhookId',
  confirmation: 'confirmation',
}

/**
 * Reads the options of a formula or button. `formula_raw` takes precedence, because clients that change it send `formula`
 * back unchanged.
 */
function formulaOptions(column: WireColumn, type: FieldTypeName): FieldOptions {
  if (!hasFormula({ type })) return {}
  const text = [column.formula_raw, column.formula].find((value) => typeof value === 'string')
  const options: FieldOptions = text === undefined ? {} : { formula: text }
  if (fieldType(type).computed !== 'button') return options
  for (const [key, option] of Object.entries(BUTTON_KEYS)) {
    const value = column[key]
    if (typeof value === 'string' && value !== '') options[option] = value
    else if (value === null && (key === 'icon' || key === 'fk_webhook_id')) options[option] = null
  }
  if (typeof column.values === 'object' && column.values !== null) options.values = column.values
  return options
}

/** The `colOptions` of a formula or button, without ids and times (wire §8.1). */
function presentFormula(field: Field, { fields, client }: WireContext) {
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
  const { kind, label, theme, color, icon, webhookId, values, confirmation } = field.options
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
    values,
    confirmation: confirmation || null,
  }
}

/** Formats a formula: text in double quotes, and parentheses around every operation. */
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
