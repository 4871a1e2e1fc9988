import type { ComponentType } from 'react'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { ChoiceOptions } from './choice-options.tsx'
import { DateOptions, DateTimeOptions } from './date-options.tsx'
import { CheckOptions, RatingOptions } from './icon-options.tsx'
import { CurrencyOptions, DecimalOptions, NumberOptions, PercentOptions } from './number-options.tsx'
import { LongTextOptions, ValidatedOptions } from './text-options.tsx'

/** What the editor of a type's options is given; `options` have passed the type's schema once. */
export interface OptionsProps {
  options: FieldOptions
  onChange: (options: FieldOptions) => void
}

const EDITORS: Partial<Record<FieldTypeName, ComponentType<OptionsProps>>> = {
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
}

/** What goes with a type: choices, formats, signs. Nothing for types without options. */
export function OptionsEditor({ type, ...props }: OptionsProps & { type: FieldTypeName }) {
  const Editor = EDITORS[type]
  return Editor ? <Editor key={type} {...props} /> : null
}
