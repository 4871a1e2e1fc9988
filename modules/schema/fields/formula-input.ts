import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fitsDisplay, formulaResult } from '../../../src/core/fields/formula-display.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import {
  type CheckedFormula,
  checkFormula,
  formulaField,
  type Problem,
  storedReferences,
  toStored,
  type ValueType,
} from '../../../src/core/formula/index.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import { openTable, type SchemaContext } from '../change/index.ts'
import { formulaRefusal, readGraph, resolveAll } from '../computed/index.ts'
import type { TableModel } from '../model/index.ts'

/** A formula as somebody gives it, for a field that is there or for one that is being made. */
export interface GivenFormula {
  type: FieldTypeName
  options: FieldOptions | undefined
  /** Null: a new field. */
  field: Field | null
}

/** True for a type whose options hold a formula. */
export const hasFormula = (type: FieldTypeName): boolean => {
  const { computed } = fieldType(type)
  return computed === 'formula' || computed === 'button'
}

/**
 * The options with the formula as it is kept: `{Title}` becomes `{{fieldId}}`, so that it follows a field that is
 * renamed. A display that does not fit the new result goes, where nobody asks for it.
 *
 * @throws BAD_REQUEST in the wire's words, the places of the problems counted in the text as it was given
 */
export async function storableFormula(
  context: Pick<SchemaContext, 'store'>,
  model: TableModel,
  { type, options, field }: GivenFormula,
): Promise<FieldOptions | undefined> {
  if (!hasFormula(type) || (field === null ? false : field.type !== type)) return options
  if (field !== null && options?.formula === undefined && options?.display === undefined) return options
  const all = readOptions(type, { ...field?.options, ...options })
  const { formula, display } = formulaOf({ options: all })
  if (fieldType(type).computed === 'button' && formula.trim() === '') return options
  const stored = { ...options, formula: toStored(formula, model.fields) }
  // A client that sends back what it has read may do so with a formula that is broken by now.
  if (field !== null && isSame(formulaOf(field), { formula: stored.formula, display })) return stored
  const checked = await checkIn(context, model, formula, field?.id)
  if (!checked.ok) throw formulaRefusal(checked.problems)
  if (fieldType(type).computed === 'button' || fitsDisplay(checked.type, display)) return stored
  if (options?.display) {
    throw badRequest(`A formula that returns ${NOUNS[checked.type]} can’t be shown as ${display?.type}`)
  }
  return { ...stored, display: null }
}

const isSame = (left: object, right: object): boolean => Bun.deepEquals(left, right)

const NOUNS = {
  number: 'a number',
  text: 'a text',
  boolean: 'yes or no',
  date: 'a day',
  datetime: 'a date and time',
  null: 'nothing',
}

/**
 * Checks a formula, with titles or ids, against a table's fields and the functions of its database.
 *
 * @param selfId the field that has the formula: circles within the table are found by it
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
    return field && hasFormula(field.type) ? storedReferences(formulaOf(field).formula) : []
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

/** A formula that is being written, in titles or ids; `fieldId` is the field that has it already. */
export interface FormulaDraft {
  tableId: string
  formula: string
  fieldId?: string
}

/** What a formula gives, or all that is wrong with it. */
export type FormulaVerdict =
  | { ok: true; type: ValueType; result: FieldResult }
  | { ok: false; problems: Problem[] }

/** A formula that holds, as a field of its table that nobody has saved. */
export type DraftedFormula = { ok: true; type: ValueType; field: Field } | { ok: false; problems: Problem[] }

/**
 * Checks a formula that is not saved, and what it becomes together with the fields that it reads.
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
  const problem = await problemAround(context, draft.fieldId ?? null, field)
  if (problem) return { ok: false, problems: [problem] }
  return { ok: true, type, result: formulaResult(type, null) }
}

/**
 * A formula that is not saved as a field of the table, for reading what it would give.
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

/** An id that no field has: theirs begin with c and are 15 characters long. */
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

/** What is wrong with a formula together with what it reads: that it reads itself, or that it becomes too large. */
async function problemAround(
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
