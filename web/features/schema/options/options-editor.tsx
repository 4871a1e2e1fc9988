import type { ComponentType } from 'react'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Skeleton } from '../../../ui/states.tsx'
import { AttachmentOptionsEditor } from './attachment-options.tsx'
import { ChoiceOptions } from './choice-options.tsx'
import { BarcodeOptions, QrOptions } from './code-options.tsx'
import { type FieldOptionsProps, type OptionsOfTypeProps, tickOption } from './controls.tsx'
import { DateOptions, DateTimeOptions, DurationOptions, TimeOptions } from './date-options.tsx'
import { CheckOptions, RatingOptions } from './icon-options.tsx'
import { CurrencyOptions, DecimalOptions, NumberOptions, PercentOptions } from './number-options.tsx'
import { CountOptions, LinkOptions, LookupOptions, RollupOptions } from './relation-options.tsx'

const WAITING = <Skeleton height={300} />

/** Loaded on demand, with the formula language. */
const FormulaOptions = lazyPart(() => import('./formula-part.tsx'), 'FormulaPart', WAITING)

const ButtonOptions = lazyPart(() => import('./formula-part.tsx'), 'ButtonPart', WAITING)

const LongTextOptions = tickOption('rich', m.schema_format_as_rich_text_markdown)
const ValidatedOptions = tickOption('validate', m.schema_accept_only_valid_values)
const SeveralPeople = tickOption('multiple', m.schema_allow_several_people)
const NotifyPeople = tickOption('notify', m.schema_notify_people)

function PeopleOptions(props: FieldOptionsProps) {
  return (
    <>
      <SeveralPeople {...props} />
      <NotifyPeople {...props} />
    </>
  )
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

/** Options editor of a field type; empty for types without options. */
export function OptionsEditor({ type, ...props }: OptionsOfTypeProps) {
  const Editor = EDITORS[type]
  return Editor ? <Editor key={type} {...props} OptionsOfType={OptionsEditor} /> : null
}
