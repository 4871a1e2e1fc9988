import { shownType } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, readOptions } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { lookup } from '../../../src/core/fields/lookup.ts'
import type { Field } from '../../../src/core/model.ts'
import { type ComputedRules, gives } from './rules.ts'
import { findTarget, requireTarget } from './through-link.ts'

const optionsOf = (field: Field) => lookup.options.parse(field.options)

/**
 * A lookup gives what its target gives: one value through a single link, else a list of them. Of a link it
 * gives the names of the records, as text.
 */
export const lookupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = optionsOf(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, around) {
    requireTarget(field, optionsOf(field), around, 'Lookup')
  },
  resolve(field, around) {
    const found = findTarget(optionsOf(field), around)
    if (!('target' in found)) return found
    const { type, options, isList } = shownType(found.target)
    const onward = linkOf(found.target)
    const isMany = isList || !isSingleLink(found.link) || (onward !== null && !isSingleLink(onward))
    if (onward) {
      return gives({ type: 'SingleLineText', options: readOptions('SingleLineText', {}), isList: isMany })
    }
    return gives({ type: type.name as FieldTypeName, options, isList: isMany })
  },
}
