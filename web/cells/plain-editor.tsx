import type { ReactNode } from 'react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import { draftOf, TextInput, type TextInputProps } from './text-input.tsx'

interface PlainEditorProps extends Omit<TextInputProps, 'initial' | 'parse' | 'options'> {
  type: FieldType<object>
  options: object
  /** By default the value as it is stored. */
  initial?: string
  /** Message for a text that the type rejects. */
  refusal: string
}

/** The editor of types whose values are texts, or are read from their texts by the type alone. */
export function PlainEditor({ type, refusal, initial, ...props }: PlainEditorProps): ReactNode {
  return (
    <TextInput
      {...props}
      initial={initial ?? String(props.value ?? '')}
      parse={(text) => draftOf(text, type.parse(text, props.options), refusal)}
    />
  )
}
