import { useEffect } from 'react'
import { BARCODE_FORMATS } from '../../../../src/core/fields/codes.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { holdsFiles, isSecret } from '../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { trpc } from '../../../trpc.ts'
import editor from '../field-editor.module.css'
import { Choice, type FieldOptionsProps } from './controls.tsx'

/** Options of a QR code: the encoded field. */
export const QrOptions = ShownField

export function BarcodeOptions(props: FieldOptionsProps) {
  const { options, onChange } = props
  return (
    <div className={editor.part}>
      <ShownField {...props} />
      <Choice
        label={m.schema_kind()}
        value={String(options.format)}
        values={BARCODE_FORMATS.map((value) => ({ value: String(value), label: value }))}
        onChange={(format) => onChange({ ...options, format })}
      />
    </div>
  )
}

/** The encoded field; by default the display field. */
function ShownField({ options, onChange, table, field }: FieldOptionsProps) {
  const { data } = trpc.schema.table.useQuery({ tableId: table.id })
  const offered = (data?.fields ?? []).filter((one) => one.id !== field?.id && isShowable(one))
  const first = offered.find(({ isDisplay }) => isDisplay) ?? offered[0]
  const isChosen = offered.some(({ id }) => id === options.valueFieldId)
  useEffect(() => {
    if (first && !isChosen) onChange({ ...options, valueFieldId: first.id })
  })
  return (
    <Choice
      label={m.schema_field_to_show()}
      value={String(options.valueFieldId)}
      values={offered.map(({ id, title }) => ({ value: id, label: title }))}
      onChange={(valueFieldId) => onChange({ ...options, valueFieldId })}
    />
  )
}

/** Whether a field can be encoded as text; the server decides in the end. */
function isShowable(field: Field): boolean {
  const { computed } = fieldType(field.type)
  const isDrawn = computed === 'link' || computed === 'code' || computed === 'button'
  return !field.isSystem && !isDrawn && !holdsFiles(field) && !isSecret(field)
}
