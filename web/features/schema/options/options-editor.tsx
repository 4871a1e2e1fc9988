import type { ComponentType } from 'react'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { AttachmentOptionsEditor } from './attachment-options.tsx'
import { ChoiceOptions } from './choice-options.tsx'
import { DurationOptions, TimeOptions } from './clock-options.tsx'
import { BarcodeOptions, QrOptions } from './code-options.tsx'
import { DateOptions, DateTimeOptions } from './date-options.tsx'
import { ButtonOptions, FormulaOptions } from './formula-options.tsx'
import { CheckOptions, RatingOptions } from './icon-options.tsx'
import { LinkOptions } from './link-options.tsx'
import { CurrencyOptions, DecimalOptions, NumberOptions, PercentOptions } from './number-options.tsx'
import type { FieldOptionsProps, OptionsOfTypeProps } from './options-props.ts'
import { PeopleOptions } from './people-options.tsx'
import { CountOptions, LookupOptions, RollupOptions } from './relation-options.tsx'
import { LongTextOptions, ValidatedOptions } from './text-options.tsx'

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
export function OptionsEditor({ type, ...props }: OptionsOfTypeProps) {
  const Editor = EDITORS[type]
  return Editor ? <Editor key={type} {...props} OptionsOfType={OptionsEditor} /> : null
}
