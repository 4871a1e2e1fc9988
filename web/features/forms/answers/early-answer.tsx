import { type ReactNode, useEffect, useRef } from 'react'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Question } from '../../../../src/core/views/question.ts'
import editor from '../../../cells/editor.module.css'
import { ControlGroup } from '../../../ui/composite.tsx'
import { useTextHeight } from '../../../ui/effects.ts'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

interface InputProps {
  isLong?: true
  inputMode?: 'decimal' | 'email' | 'url' | 'tel'
  placeholder?: string
}
type Options = Question['field']['options']

/** Field types whose answers are typed as text, with their editors' input properties; null for other editors. */
const TEXT_TYPES: Partial<Record<FieldTypeName, (options: Options) => InputProps | null>> = {
  SingleLineText: () => ({}),
  LongText: ({ rich }) => (rich ? null : { isLong: true }),
  Number: () => ({ inputMode: 'decimal' }),
  Decimal: () => ({ inputMode: 'decimal' }),
  Currency: () => ({ inputMode: 'decimal' }),
  Percent: () => ({ inputMode: 'decimal' }),
  Date: ({ format }) => ({ placeholder: String(format) }),
  DateTime: ({ format }) => ({ placeholder: `${String(format)} HH:mm` }),
  Email: () => ({ inputMode: 'email' }),
  URL: () => ({ inputMode: 'url' }),
  PhoneNumber: () => ({ inputMode: 'tel' }),
}

const inputOf = ({ field }: Question): InputProps | null => TEXT_TYPES[field.type]?.(field.options) ?? null

/** True if a question's answer can be typed before the editor of its field type has been loaded. */
export const hasEarlyText = (question: Question): boolean =>
  !question.form.enableScanner && inputOf(question) !== null

interface EarlyAnswerProps extends AnswerProps {
  text: string
  onType: (text: string) => void
  /** True once the field's editor can take over. */
  isDue: boolean
  /** Asks the owner to draw the field's editor, which reads the text. */
  onDone: () => void
}

/**
 * A plain text input, drawn like the field's editor until that has been loaded. An input in use stays until it is left:
 * replacing it would lose the selection and the word that an input method composes.
 */
export function EarlyAnswer({ text, onType, isDue, onDone, ...props }: EarlyAnswerProps): ReactNode {
  const { field, form } = props.question
  const box = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  useTextHeight(area, text)
  useEffect(() => {
    if (isDue && !box.current?.contains(document.activeElement)) onDone()
  })
  const { isLong, ...inputProps } = inputOf(props.question) ?? {}
  const shared = {
    id: props.id,
    dir: 'auto',
    value: text,
    'aria-label': form.label ?? field.title,
    'aria-describedby': props.describedBy,
    onChange: (event: { target: { value: string } }) => onType(event.target.value),
  } as const
  return (
    <ControlGroup ref={box} className={styles.editor} onBlur={() => isDue && onDone()}>
      {isLong ? (
        <textarea {...shared} ref={area} className={editor.recordArea} rows={3} />
      ) : (
        <input
          {...shared}
          {...inputProps}
          className={editor.recordInput}
          type="text"
          autoComplete="off"
          spellCheck={inputProps.inputMode === undefined}
        />
      )}
    </ControlGroup>
  )
}
