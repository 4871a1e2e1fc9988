import { count } from '../../../src/core/fields/count.ts'
import { readOptions } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import { broken, type ComputedRules, gives, missingColumn } from './rules.ts'
import { requireLink } from './through-link.ts'

const relationOf = (field: Field) => count.options.parse(field.options).relationFieldId

/** A count of the linked records, of one link as of many. */
export const countRules: ComputedRules = {
  references: (field) => [{ fieldId: relationOf(field) }],
  check(field, around) {
    requireLink(field, relationOf(field), around)
  },
  resolve(field, around) {
    const relation = around.field(relationOf(field))
    if (!relation) return missingColumn(relationOf(field), around)
    if (!linkOf(relation)) return broken('Relation column not found')
    if (relation.error !== null) return broken(relation.error)
    return gives({ type: 'Number', options: readOptions('Number', {}), isList: false })
  },
}
