import type { Field } from '../fields/field.ts'
import { isComputed, shownType, storageOf } from '../fields/field.ts'
import { fieldType } from '../fields/index.ts'
import type { CellForm, FormulaField, ScalarType } from './ast.ts'

/** A field as formulas refer to it. */
export function formulaField(field: Field): FormulaField {
  return {
    id: field.id,
    title: field.title,
    type: field.type,
    form: formOf(field),
    isComputed: isComputed(field),
    isBroken: field.error !== null,
    ...(fieldType(field.type).computed === 'formula' && { formula: String(field.options.formula ?? '') }),
    ...zoneOf(field),
    ...elementsOf(field),
    ...(storageOf(field) === 'json' && { isJson: true }),
  }
}

/** What the values of a field with several are, and how they are told apart. */
function elementsOf(field: Field): Pick<FormulaField, 'isNumeric' | 'hasInstants' | 'separator'> {
  const { type, isList } = shownType(field)
  return {
    ...(isList && { isNumeric: type.storage === 'integer' || type.storage === 'real' }),
    ...(isList && type.storage === 'datetime' && { hasInstants: true }),
    ...(type.choices === 'multiple' && type.storage === 'text' && { separator: ',' }),
  }
}

/** The time zone of a field that has its own. */
function zoneOf(field: Field): Pick<FormulaField, 'zone'> {
  const { options } = shownType(field)
  const zone = options.timeZone
  return typeof zone === 'string' && zone !== 'local' ? { zone } : {}
}

function formOf(field: Field): CellForm {
  const { linkAnswer } = fieldType(field.type)
  if (linkAnswer !== undefined) return linkAnswer === 'count' ? 'linkCount' : 'linkTitles'
  if (shownType(field).isList) return 'list'
  const storage = storageOf(field)
  switch (storage) {
    case 'id':
    case 'integer':
      return 'integer'
    case 'real':
    case 'boolean':
    case 'date':
    case 'datetime':
      return storage
    default:
      return 'text'
  }
}

/** The type of a cell's value. */
export function typeOfForm(form: CellForm): ScalarType {
  switch (form) {
    case 'integer':
    case 'real':
    case 'linkCount':
      return 'number'
    case 'boolean':
    case 'date':
    case 'datetime':
      return form
    default:
      return 'text'
  }
}
