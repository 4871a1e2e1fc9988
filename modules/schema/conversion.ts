import { fieldType } from '../../src/core/fields/index.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldDefinition } from './definition.ts'

type Kind = Pick<FieldDefinition, 'type' | 'options'>

/** Gives what a value of one kind of field becomes in another; null where it does not fit. */
export function createConverter(from: Kind, to: Kind): (value: CellValue) => CellValue {
  const source = fieldType(from.type)
  const target = fieldType(to.type)
  return (value) => target.parse(source.format(value, from.options as never), to.options as never)
}
