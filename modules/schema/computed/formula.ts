import type { AppError } from '../../../src/core/errors.ts'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { formulaResult } from '../../../src/core/fields/formula-display.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import {
  type CheckedFormula,
  checkFormula,
  formulaField,
  type Problem,
  storedReferences,
} from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
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
