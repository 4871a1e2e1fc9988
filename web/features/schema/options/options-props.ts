import type { ComponentType } from 'react'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Field, Table } from '../../../../src/core/model.ts'

/** Props of the editor of a type's options; `options` have passed the type's schema once. */
export interface OptionsProps {
  options: FieldOptions
  onChange: (options: FieldOptions) => void
}

/** Props for a type whose options name other fields or tables. */
export interface FieldOptionsProps extends OptionsProps {
  table: Pick<Table, 'id' | 'baseId'>
  /** Null while the field is being created. */
  field: Field | null
  /** True when an existing field is converted to this type. */
  isConverting?: boolean
  /** Switches the field editor to another type, e.g. to create the link that a lookup needs first. */
  chooseType: (type: FieldTypeName) => void
  /** Edits the options of another type: the format of a formula's result. */
  OptionsOfType: ComponentType<OptionsOfTypeProps>
}

/** Props of the editor that shows the options of any type. */
export interface OptionsOfTypeProps extends Omit<FieldOptionsProps, 'OptionsOfType'> {
  type: FieldTypeName
}
