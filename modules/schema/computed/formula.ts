import type { AppError } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { formulaResult } from '../../../src/core/fields/formula-display.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isRollupFunction } from '../../../src/core/fields/rollup.ts'
import { holdsFiles, isSecret } from '../../../src/core/fields/traits.ts'
import {
  type CheckedFormula,
  checkFormula,
  formulaField,
  type Problem,
  storedReferences,
} from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { FieldInput, SchemaStore } from '../model/index.ts'
import { notAvailable } from './linked-kinds.ts'
import { broken, type ComputedRules, missingColumn, refusal, type SchemaLookup, withResult } from './rules.ts'

/** Formulas, and buttons whose URL is a formula. They read fields of their own table. */
export const formulaRules: ComputedRules = {
  references: (field) => storedReferences(formulaOf(field).formula).map((fieldId) => ({ fieldId })),
  check(field, schema) {
    if (hasNoFormula(field)) return
    const checked = checkStored(field, schema)
    if (!checked.ok) throw formulaRefusal(checked.problems)
    if (isButton(field)) {
      if (checked.type !== 'text' && checked.type !== 'null') throw notAUrl(field)
      return
    }
    formulaResult(checked.type, formulaOf(field).display)
  },
  resolve(field, schema) {
    if (hasNoFormula(field)) return withResult(null)
    for (const fieldId of storedReferences(formulaOf(field).formula)) {
      const read = fieldInSameTable(field, fieldId, schema)
      if (!read) return missingColumn(fieldId, schema)
      if (read.error !== null) return broken(read.error)
    }
    const checked = checkStored(field, schema)
    if (!checked.ok) return broken(checked.problems[0]?.message ?? m.schema_error_formula())
    // The URL of a button is not a value to filter or aggregate.
    return withResult(isButton(field) ? null : formulaResult(checked.type, formulaOf(field).display))
  },
}

const isButton = ({ type }: Pick<Field, 'type'>): boolean => fieldType(type).computed === 'button'

/** A button may be saved without a URL. */
const hasNoFormula = (field: Field): boolean => isButton(field) && formulaOf(field).formula.trim() === ''

function fieldInSameTable(field: Field, fieldId: string, schema: SchemaLookup): Field | undefined {
  const read = schema.field(fieldId)
  return read?.tableId === field.tableId ? read : undefined
}

function checkStored(field: Field, schema: SchemaLookup): CheckedFormula {
  const { formula } = formulaOf(field)
  const fields = storedReferences(formula).flatMap((id) => fieldInSameTable(field, id, schema) ?? [])
  return checkFormula(formula, {
    fields: fields.map(formulaField),
    indirect: indirectOf(fields, schema).map(formulaField),
    client: schema.clientOf(field.tableId),
  })
}

/** The fields behind the formula fields among these, through any number of formulas: their lists and errors come from there. */
export function indirectOf(fields: readonly Field[], schema: Pick<SchemaLookup, 'field'>): Field[] {
  const found = new Set(fields)
  for (const field of found) {
    if (fieldType(field.type).computed !== 'formula') continue
    for (const id of storedReferences(formulaOf(field).formula)) {
      const read = schema.field(id)
      if (read?.tableId === field.tableId) found.add(read)
    }
  }
  return [...found].slice(fields.length)
}

/** The error for an invalid formula: the first problem as message, all problems in the details. */
export const formulaRefusal = (problems: readonly Problem[]): AppError =>
  refusal(problems[0]?.message ?? m.schema_error_formula(), { problems })

const notAUrl = (field: Field): AppError =>
  formulaRefusal([
    {
      type: 'TYPE_MISMATCH',
      message: m.wire_error_formula_not_text(),
      from: 0,
      to: formulaOf(field).formula.length,
    },
  ])

/** A code (QR or bar code) shows a single readable value: no files, secrets, links, codes or buttons. */
function isShowable(field: Field): boolean {
  const { computed } = fieldType(field.type)
  if (computed === 'link' || computed === 'code' || computed === 'button') return false
  return !holdsFiles(field) && !isSecret(field)
}

const valueFieldOf = (field: Field): string => String(field.options.valueFieldId ?? '')

/** A code shows the value of another field of its own table. */
export const codeRules: ComputedRules = {
  references: (field) => [{ fieldId: valueFieldOf(field) }],
  check(field, schema) {
    const shown = schema.field(valueFieldOf(field))
    if (shown?.tableId !== field.tableId || shown.id === field.id) throw refusal(m.wire_error_value_column())
    if (!isShowable(shown)) throw refusal(m.schema_error_not_a_code({ type: fieldType(shown.type).label() }))
  },
  resolve(field, schema) {
    const shown = schema.field(valueFieldOf(field))
    if (!shown) return missingColumn(valueFieldOf(field), schema)
    if (shown.error !== null) return broken(shown.error)
    if (!isShowable(shown)) return broken(m.schema_error_not_a_code({ type: fieldType(shown.type).label() }))
    const { type, options, isList } = shownType(shown)
    return withResult({ type: type.name as FieldTypeName, options, isList })
  },
}

/**
 * Refuses an unknown rollup function. The message of the REST API names the target's type, so the target is loaded first.
 *
 * @throws BAD_REQUEST `Rollup function (nope) not available for type (Number)`
 */
export async function refuseUnknownFunction(
  store: Pick<SchemaStore, 'findField'>,
  { type, options }: Pick<FieldInput, 'type' | 'options'>,
): Promise<void> {
  const name = options?.function
  if (fieldType(type).computed !== 'rollup' || name === undefined || isRollupFunction(name)) return
  const relation = await store.findField(String(options?.relationFieldId))
  if (!relation || !linkOf(relation)) throw refusal(m.wire_error_relation_column())
  const target = await store.findField(String(options?.targetFieldId))
  if (target?.tableId !== linkOf(relation)?.relatedTableId || !target) {
    throw refusal(m.wire_error_target_column({ kind: 'Rollup' }))
  }
  throw refusal(notAvailable(String(name), target))
}
