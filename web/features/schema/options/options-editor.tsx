import type { ComponentType } from 'react'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Field, Table } from '../../../../src/core/model.ts'
import { AttachmentOptionsEditor } from './attachment-options.tsx'
import { ChoiceOptions } from './choice-options.tsx'
import { DurationOptions, TimeOptions } from './clock-options.tsx'
import { BarcodeOptions, QrOptions } from './code-options.tsx'
import { DateOptions, DateTimeOptions } from './date-options.tsx'
import { ButtonOptions, FormulaOptions } from './formula-options.tsx'
import { CheckOptions, RatingOptions } from './icon-options.tsx'
import { LinkOptions } from './link-options.tsx'
import { CurrencyOptions, DecimalOptions, NumberOptions, PercentOptions } from './number-options.tsx'
import { PeopleOptions } from './people-options.tsx'
import { CountOptions, LookupOptions, RollupOptions } from './relation-options.tsx'
import { LongTextOptions, ValidatedOptions } from './text-options.tsx'

/** What the editor of a type's options is given; `options` have passed the type's schema once. */
export interface OptionsProps {
  options: FieldOptions
  onChange: (options: FieldOptions) => void
}

/** The same for a type whose options name other fields or tables. */
export interface FieldOptionsProps extends OptionsProps {
  table: Pick<Table, 'id' | 'baseId'>
  /** Null: a field that is being made. */
  field: Field | null
  /** True where values of another type become those of this one. */
  isConverting?: boolean
  /** Goes over to another type, for what has to be made first. */
  chooseType: (type: FieldTypeName) => void
}

const EDITORS: Partial<Record<FieldTypeName, ComponentType<FieldOptionsProps>>> = {
  LongText: LongTextOptions,
  Number: NumberOptions,
  Decimal: DecimalOptions,
  Currency: CurrencyOptions,
  Percent: PercentOptions,
  Rating: RatingOptions,
  Checkbox: CheckOptions,
  SingleSelect: ChoiceOptions,
  MultiSelect: ChoiceOptions,
  Date: DateOptions,
  DateTime: DateTimeOptions,
  CreatedTime: DateTimeOptions,
  LastModifiedTime: DateTimeOptions,
  Email: ValidatedOptions,
  URL: ValidatedOptions,
  PhoneNumber: ValidatedOptions,
  Attachment: AttachmentOptionsEditor,
  Links: LinkOptions,
  LinkToAnotherRecord: LinkOptions,
  Lookup: LookupOptions,
  Rollup: RollupOptions,
  Count: CountOptions,
  Time: TimeOptions,
  Duration: DurationOptions,
  User: PeopleOptions,
  Collaborator: PeopleOptions,
  QrCode: QrOptions,
  Barcode: BarcodeOptions,
  Formula: FormulaOptions,
  Button: ButtonOptions,
}

/** What goes with a type: choices, formats, signs. Nothing for types without options. */
export function OptionsEditor({ type, ...props }: FieldOptionsProps & { type: FieldTypeName }) {
  const Editor = EDITORS[type]
  return Editor ? <Editor key={type} {...props} /> : null
}
