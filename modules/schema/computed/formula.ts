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
import type { FieldInput, SchemaStore } from '../model/index.ts'
import { notAvailable } from './linked-kinds.ts'
import { broken, type ComputedRules, gives, missingColumn, refusal, type Surroundings } from './rules.ts'

/** A formula, and a button whose address is one. It names fields of its own table. */
export const formulaRules: ComputedRules = {
  references: (field) => storedReferences(formulaOf(field).formula).map((fieldId) => ({ fieldId })),
  check(field, around) {
    if (isIdle(field)) return
    const checked = checkStored(field, around)
    if (!checked.ok) throw formulaRefusal(checked.problems)
    if (isButton(field)) {
      if (checked.type !== 'text' && checked.type !== 'null') throw notAnAddress(field)
      return
    }
    formulaResult(checked.type, formulaOf(field).display)
  },
  resolve(field, around) {
    if (isIdle(field)) return gives(null)
    for (const fieldId of storedReferences(formulaOf(field).formula)) {
      const read = fieldOfSameTable(field, fieldId, around)
      if (!read) return missingColumn(fieldId, around)
      if (read.error !== null) return broken(read.error)
    }
    const checked = checkStored(field, around)
    if (!checked.ok) return broken(checked.problems[0]?.message ?? 'The formula is invalid')
    // What a button opens is no value to filter or sum up.
    return gives(isButton(field) ? null : formulaResult(checked.type, formulaOf(field).display))
  },
}

const isButton = ({ type }: Pick<Field, 'type'>): boolean => fieldType(type).computed === 'button'

/** A button may have no address yet: it is shown, and says so. */
const isIdle = (field: Field): boolean => isButton(field) && formulaOf(field).formula.trim() === ''

function fieldOfSameTable(field: Field, fieldId: string, around: Surroundings): Field | undefined {
  const read = around.field(fieldId)
  return read?.tableId === field.tableId ? read : undefined
}

function checkStored(field: Field, around: Surroundings): CheckedFormula {
  const { formula } = formulaOf(field)
  const fields = storedReferences(formula).flatMap((id) => fieldOfSameTable(field, id, around) ?? [])
  return checkFormula(formula, { fields: fields.map(formulaField), client: around.clientOf(field.tableId) })
}

/** The first problem in the wire's words, with all of them in the details. */
export const formulaRefusal = (problems: readonly Problem[]): AppError =>
  refusal(problems[0]?.message ?? 'The formula is invalid', { problems })

const notAnAddress = (field: Field): AppError =>
  formulaRefusal([
    {
      type: 'TYPE_MISMATCH',
      message: 'String type is expected',
      from: 0,
      to: formulaOf(field).formula.length,
    },
  ])

/** A code says one value that people can read: no files, no secret, and nothing that is drawn itself. */
function isShowable(field: Field): boolean {
  const { computed } = fieldType(field.type)
  if (computed === 'link' || computed === 'code' || computed === 'button') return false
  return !holdsFiles(field) && !isSecret(field)
}

const valueFieldOf = (field: Field): string => String(field.options.valueFieldId ?? '')

/** A code shows the value of a field of its own table. */
export const codeRules: ComputedRules = {
  references: (field) => [{ fieldId: valueFieldOf(field) }],
  check(field, around) {
    const shown = around.field(valueFieldOf(field))
    if (shown?.tableId !== field.tableId || shown.id === field.id) throw refusal('Value column not found')
    if (!isShowable(shown)) throw refusal(`A ${shown.type} field can’t be shown as a code`)
  },
  resolve(field, around) {
    const shown = around.field(valueFieldOf(field))
    if (!shown) return missingColumn(valueFieldOf(field), around)
    if (shown.error !== null) return broken(shown.error)
    if (!isShowable(shown)) return broken(`A ${shown.type} field can’t be shown as a code`)
    const { type, options, isList } = shownType(shown)
    return gives({ type: type.name as FieldTypeName, options, isList })
  },
}

/**
 * Refuses a rollup's function that does not exist in the words for one that does not suit: these name the
 * type of the target, so it is looked up first.
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
  if (!relation || !linkOf(relation)) throw refusal('Relation column not found')
  const target = await store.findField(String(options?.targetFieldId))
  if (target?.tableId !== linkOf(relation)?.relatedTableId || !target) {
    throw refusal('Rollup column not found in related table')
  }
  throw refusal(notAvailable(String(name), target))
}
