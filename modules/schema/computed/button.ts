import { valuesOfButton } from '../../../src/core/fields/button.ts'
import { acceptsNow, NOW } from '../../../src/core/fields/default-value.ts'
import { isComputed } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { ME } from '../../../src/core/fields/people.ts'
import { readValue, valueError } from '../../../src/core/fields/read.ts'
import { holdsFiles, holdsPeople, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { formulaRules } from './formula.ts'
import { type ComputedRules, missingColumn, refusal } from './rules.ts'

/** Buttons: those with a URL read the fields of its formula, others name the fields that they write. */
export const buttonRules: ComputedRules = {
  references: (field) => [
    ...formulaRules.references(field),
    ...Object.keys(valuesOfButton(field)).map((fieldId) => ({ fieldId })),
  ],
  check(field, schema) {
    formulaRules.check(field, schema)
    for (const [fieldId, value] of Object.entries(valuesOfButton(field))) {
      const target = schema.field(fieldId)
      if (target?.tableId !== field.tableId) throw refusal(m.schema_error_button_no_field({ field: fieldId }))
      checkValue(target, value)
    }
  },
  resolve(field, schema) {
    const missing = Object.keys(valuesOfButton(field)).find(
      (id) => schema.field(id)?.tableId !== field.tableId,
    )
    return missing === undefined ? formulaRules.resolve(field, schema) : missingColumn(missing, schema)
  },
}

/** @throws BAD_REQUEST for a field that a button cannot write, and as `valueError` */
function checkValue(target: Field, value: CellValue): void {
  const { readOnly, systemColumn } = fieldType(target.type)
  if (isComputed(target) || readOnly || systemColumn || holdsFiles(target) || isSecret(target)) {
    throw refusal(m.schema_error_button_not_writable({ field: target.title }))
  }
  const isOfMoment = value === NOW && acceptsNow(target.type)
  if (isOfMoment || (value === ME && holdsPeople(target))) return
  const read = readValue(target, value)
  if (!read.ok) throw valueError(target, value, read)
}
