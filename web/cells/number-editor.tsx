import type { ReactNode } from 'react'
import { readLong } from '../../src/core/fields/column-limits.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { parseNumber } from '../../src/core/fields/number-text.ts'
import { decimalMark } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import type { Draft, EditorProps } from './cell.ts'
import { TextInput } from './text-input.tsx'

interface NumberEditorProps extends EditorProps<object> {
  type: FieldType<object>
  /** The formatted value, which a record shows without the focus. */
  shown: string | undefined
}

/** The editor of numbers of all types: full precision, in the user's notation. */
export function NumberEditor({ type, shown, ...props }: NumberEditorProps): ReactNode {
  return (
    <TextInput
      {...props}
      initial={editedNumber(props.value)}
      resting={props.variant === 'record' ? shown : undefined}
      inputMode="decimal"
      align="end"
      parse={(text) => readLong(props.field, text) ?? readNumberDraft(text, type, props.options)}
    />
  )
}

/** The full value as editable text, with the user's decimal mark. */
const editedNumber = (value: CellValue): string =>
  value === null ? '' : String(value).replace('.', decimalMark())

/** Parses a number in the user's notation, then validates it with the field's type. */
function readNumberDraft(text: string, type: FieldType<object>, options: object): Draft {
  if (text.trim() === '') return { ok: true, value: null }
  const number = parseNumber(text, decimalMark())
  const parsed = type.parse(text, options, decimalMark())
  const value = parsed ?? number
  if (value === null) return { ok: false, message: m.cells_text_is_not_a_number({ text: text.trim() }) }
  const read = type.read(value, options)
  if (!read.ok) return { ok: false, message: read.message }
  if (parsed !== null) return { ok: true, value: read.value }
  // Text with characters that the type rejects: another currency's symbol, a percent sign.
  return { ok: false, message: m.cells_text_sign_does_not_belong({ text: text.trim() }) }
}
