import { isNamedLink, shownType, storageOf } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RelatedValue } from '../../../../src/dialects/related.ts'
import type { Scope } from './scope.ts'

/** The value of a field for comparing, with the kind of storage that it has in that form. */
export function valueIn(scope: Scope, field: Field): RelatedValue {
  return { value: scope.of(field, scope, 'value'), storage: valueStorage(field) }
}

/** Of what kind a field's value is in the form in which it is compared. */
export function valueStorage(field: Field) {
  if (fieldType(field.type).computed === 'link') return isNamedLink(field) ? 'text' : 'integer'
  return shownType(field).isList ? 'longText' : storageOf(field)
}

/** The name of a scope's record. */
export const nameOf = (scope: Scope): RelatedValue => valueIn(scope, scope.model.displayField)
