import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fitsDisplay, formulaResult } from '../../../src/core/fields/formula-display.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import { hasFormula } from '../../../src/core/fields/traits.ts'
import {
  type CheckedFormula,
  checkFormula,
  formulaField,
  type Problem,
  type ScalarType,
  storedReferences,
  toStored,
} from '../../../src/core/formula/index.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { openTable, type SchemaContext } from '../change/index.ts'
import { formulaRefusal, readGraph, resolveAll } from '../computed/index.ts'
import type { TableModel } from '../model/index.ts'

/** The formula of a new or existing field as the user entered it. */
export interface FormulaInput {
  type: FieldTypeName
  options: FieldOptions | undefined
  /** Null for a new field. */
  field: Field | null
}

/**
 * The options with the formula to store: `{Title}` becomes `{{fieldId}}`, so that renaming a field does not break it. A
 * stored display format that does not fit the new result type is removed.
 *
 * @throws BAD_REQUEST with the texts of the REST API; positions of problems refer to the text as entered
 */
export async function storableFormula(
  context: Pick<SchemaContext, 'store'>,
  model: TableModel,
  { type, options, field }: FormulaInput,
): Promise<FieldOptions | undefined> {
  if (!hasFormula({ type }) || (field !== null && field.type !== type)) return options
  if (field !== null && options?.formula === undefined && options?.display === undefined) return options
  const all = readOptions(type, { ...field?.options, ...options })
  const { formula, display } = formulaOf({ options: all })
  if (fieldType(type).computed === 'button' && formula.trim() === '') return options
  const stored = { ...options, formula: toStored(formula, model.fields) }
  // An unchanged formula is accepted even if it is broken by now.
  if (field !== null && Bun.deepEquals(formulaOf(field), { formula: stored.formula, display })) return stored
  const checked = await checkIn(context, model, formula, field?.id)
  if (!checked.ok) throw formulaRefusal(checked.problems)
  if (fieldType(type).computed === 'button' || fitsDisplay(checked.type, display)) return stored
  if (options?.display) {
    throw badRequest(
      m.schema_error_formula_display({ result: NOUNS[checked.type], type: String(display?.type) }),
    )
  }
  return { ...stored, display: null }
}

const NOUNS = {
  number: 'a number',
  text: 'a text',
  boolean: 'yes or no',
  date: 'a day',
  datetime: 'a date and time',
  null: 'nothing',
}

/**
 * Checks a formula, with titles or ids, against the fields of a table and the functions of its database.
 *
 * @param selfId the field of the formula, to detect cycles within the table
 */
async function checkIn(
  { store }: Pick<SchemaContext, 'store'>,
  { table, fields, field: find }: TableModel,
  formula: string,
  selfId?: string,
): Promise<CheckedFormula> {
  const client = await clientOf(store, { table })
  const referencesOf = (fieldId: string): string[] => {
    const field = find(fieldId)
    return field && hasFormula(field) ? storedReferences(formulaOf(field).formula) : []
  }
  return checkFormula(formula, {
    fields: fields.map(formulaField),
    client,
    referencesOf,
    ...(selfId !== undefined && { selfId }),
  })
}

/** The client of the database that holds a table. @throws SOURCE_NOT_FOUND */
export async function clientOf(
  { clientsOf }: Pick<SchemaContext['store'], 'clientsOf'>,
  { table }: Pick<TableModel, 'table'>,
): Promise<string> {
  const client = (await clientsOf(table.baseId)).get(table.sourceId)
  if (client === undefined) throw notFound('Source', table.sourceId)
  return client
}

/** An unsaved formula with titles or ids; `fieldId` is the field it belongs to, if any. */
export interface FormulaDraft {
  tableId: string
  formula: string
  fieldId?: string
}

/** The result type of a formula, or all of its problems. */
export type FormulaVerdict =
  | { ok: true; type: ScalarType; result: FieldResult }
  | { ok: false; problems: Problem[] }

/** A valid formula as an unsaved field of its table, or all of its problems. */
export type DraftedFormula = { ok: true; type: ScalarType; field: Field } | { ok: false; problems: Problem[] }

/**
 * Checks an unsaved formula, including cycles and its size together with the fields it reads.
 *
 * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND
 */
export async function checkFormulaDraft(
  context: SchemaContext,
  actor: Actor,
  draft: FormulaDraft,
): Promise<FormulaVerdict> {
  const drafted = await draftFormula(context, actor, draft)
  if (!drafted.ok) return drafted
  const { type, field } = drafted
  const problem = await graphProblem(context, draft.fieldId ?? null, field)
  if (problem) return { ok: false, problems: [problem] }
  return { ok: true, type, result: formulaResult(type, null) }
}

/**
 * An unsaved formula as a field of the table, to preview its results.
 *
 * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND for a field of another table
 */
export async function draftFormula(
  context: SchemaContext,
  actor: Actor,
  { tableId, formula, fieldId }: FormulaDraft,
): Promise<DraftedFormula> {
  const model = await openTable(context, actor, 'field.create', tableId)
  const own = fieldId === undefined ? null : model.field(fieldId)
  if (own === undefined) throw notFound('Field', String(fieldId).slice(0, 64))
  const checked = await checkIn(context, model, formula, fieldId)
  if (!checked.ok) return checked
  const field = draftOf(model, toStored(formula, model.fields))
  return { ok: true, type: checked.type, field: { ...field, result: formulaResult(checked.type, null) } }
}

/** Not a possible field id: these start with `c` and have 15 characters. */
const DRAFT_ID = 'draft'

const draftOf = ({ table }: TableModel, formula: string): Field => ({
  id: DRAFT_ID,
  tableId: table.id,
  title: DRAFT_ID,
  columnName: '',
  type: 'Formula',
  options: readOptions('Formula', { formula }),
  description: null,
  required: false,
  unique: false,
  defaultValue: null,
  order: 0,
  isDisplay: false,
  isPrimaryKey: false,
  isSystem: false,
  ...OWN_COLUMN,
})

/** The problem of a formula with the fields it reads: a cycle or its size; null if there is none. */
async function graphProblem(
  { kernel, store }: SchemaContext,
  fieldId: string | null,
  draft: Field,
): Promise<Problem | null> {
  const stored = fieldId === null ? null : await store.findField(fieldId)
  const { formula } = draft.options
  const altered = stored
    ? { ...stored, options: { ...stored.options, formula } }
    : { ...draft, deletedAt: null }
  const { table } = await store.load(draft.tableId)
  const graph = await readGraph(kernel, store, table.baseId, { fields: [altered] })
  try {
    resolveAll(graph, new Set([altered.id]))
    return null
  } catch (error) {
    const { type, path } = (error instanceof AppError ? error.details : undefined) ?? {}
    if (!(error instanceof AppError) || (type !== 'CIRCULAR_REFERENCE' && type !== 'NOT_SUPPORTED'))
      throw error
    const problem: Problem = { type, message: error.message, from: 0, to: String(formula).length }
    return Array.isArray(path) ? { ...problem, path: path.map(String) } : problem
  }
}
