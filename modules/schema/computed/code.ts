import { shownType } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { holdsFiles, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { broken, type ComputedRules, gives, missingColumn, refusal } from './rules.ts'

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
