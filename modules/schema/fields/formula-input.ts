import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fitsDisplay } from '../../../src/core/fields/formula-display.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import {
  type CheckedFormula,
  checkFormula,
  formulaField,
  storedReferences,
  toStored,
} from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { SchemaContext } from '../change/index.ts'
import { formulaRefusal } from '../computed/index.ts'
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
export async function checkIn(
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
