import { Eye, EyeOff } from 'lucide-react'
import {
  type HTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react'
import { m } from '../messages.gen.ts'
import { IconButton } from './button.tsx'
import styles from './field.module.css'

interface Labelled {
  label: string
  /** Error message under the input. */
  error?: string | null
  help?: ReactNode
}

interface TextFieldProps extends Labelled, Omit<InputHTMLAttributes<HTMLInputElement>, 'id'> {
  ref?: Ref<HTMLInputElement>
  /** Content inside the box, after the text. */
  after?: ReactNode
}

/** A labelled one-line input with its error or help underneath. */
export function TextField({ label, error, help, after, className, ...input }: TextFieldProps) {
  return (
    <LabelledBox label={label} error={error} help={help} className={className} after={after}>
      {(control) => <input dir="auto" {...input} {...control} />}
    </LabelledBox>
  )
}

/** A password input with a show/hide button. */
export function PasswordField(props: TextFieldProps) {
  const [visible, setVisible] = useState(false)
  return (
    <TextField
      {...props}
      type={visible ? 'text' : 'password'}
      dir="ltr"
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      after={
        <IconButton
          icon={visible ? EyeOff : Eye}
          label={visible ? m.ui_hide_password() : m.ui_show_password()}
          aria-pressed={visible}
          size="small"
          className={styles.eye}
          onClick={() => setVisible(!visible)}
        />
      }
    />
  )
}

interface TextAreaProps extends Labelled, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id'> {
  ref?: Ref<HTMLTextAreaElement>
  /** Content inside the box, after the text. */
  after?: ReactNode
}

/** A labelled input of several lines. */
export function TextArea({ label, error, help, after, className, ...input }: TextAreaProps) {
  return (
    <LabelledBox label={label} error={error} help={help} className={className} after={after}>
      {(control) => <textarea dir="auto" rows={3} {...input} {...control} />}
    </LabelledBox>
  )
}

interface SelectFieldProps extends Labelled, Omit<SelectHTMLAttributes<HTMLSelectElement>, 'id'> {}

/** A labelled select; `children` are its options. */
export function SelectField({ label, error, help, className, ...select }: SelectFieldProps) {
  return (
    <LabelledBox label={label} error={error} help={help} className={className}>
      {(control) => <select {...select} {...control} />}
    </LabelledBox>
  )
}

interface LabelledBoxProps extends Labelled {
  className: string | undefined
  after?: ReactNode
  /** Renders the control with the attributes that connect it to its label and note. */
  children: (
    control: Pick<HTMLAttributes<HTMLElement>, 'id' | 'className' | 'aria-invalid' | 'aria-describedby'>,
  ) => ReactNode
}

/** A label, the box of a control, and its error or help underneath. */
function LabelledBox({ label, error, help, className, after, children }: LabelledBoxProps) {
  const id = useId()
  const noteId = error || help ? `${id}-note` : undefined
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box} data-invalid={error ? '' : undefined}>
        {children({
          id,
          className: styles.input,
          'aria-invalid': error ? true : undefined,
          'aria-describedby': noteId,
        })}
        {after}
      </div>
      {noteId && (
        <p id={noteId} className={error ? styles.error : styles.help} role={error ? 'alert' : undefined}>
          {error || help}
        </p>
      )}
    </div>
  )
}
