import { Eye, EyeOff } from 'lucide-react'
import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react'
import { t } from '../i18n.ts'
import { IconButton } from './button.tsx'
import styles from './field.module.css'

interface Labelled {
  label: string
  /** A sentence under the input; the text typed stays. */
  error?: string | null
  help?: ReactNode
}

export interface TextFieldProps extends Labelled, Omit<InputHTMLAttributes<HTMLInputElement>, 'id'> {
  ref?: Ref<HTMLInputElement>
  /** Stands inside the box, after the text. */
  after?: ReactNode
}

/** A labelled one-line input with its error or help underneath. */
export function TextField({ label, error, help, after, className, ...input }: TextFieldProps) {
  const id = useId()
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box} data-invalid={error ? '' : undefined}>
        <input
          dir="auto"
          {...input}
          id={id}
          className={styles.input}
          aria-invalid={error ? true : undefined}
          aria-describedby={error || help ? `${id}-note` : undefined}
        />
        {after}
      </div>
      <Note id={`${id}-note`} error={error} help={help} />
    </div>
  )
}

/** A password input with show and hide. */
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
          label={visible ? t('Hide password') : t('Show password')}
          aria-pressed={visible}
          size="small"
          className={styles.eye}
          onClick={() => setVisible(!visible)}
        />
      }
    />
  )
}

export interface TextAreaProps extends Labelled, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id'> {}

/** A labelled input of several lines. */
export function TextArea({ label, error, help, className, ...input }: TextAreaProps) {
  const id = useId()
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box} data-invalid={error ? '' : undefined}>
        <textarea
          dir="auto"
          rows={3}
          {...input}
          id={id}
          className={styles.input}
          aria-invalid={error ? true : undefined}
          aria-describedby={error || help ? `${id}-note` : undefined}
        />
      </div>
      <Note id={`${id}-note`} error={error} help={help} />
    </div>
  )
}

export interface SelectFieldProps extends Labelled, Omit<SelectHTMLAttributes<HTMLSelectElement>, 'id'> {}

/** A labelled choice of one; `children` are its options. */
export function SelectField({ label, error, help, className, ...select }: SelectFieldProps) {
  const id = useId()
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box} data-invalid={error ? '' : undefined}>
        <select
          {...select}
          id={id}
          className={styles.input}
          aria-invalid={error ? true : undefined}
          aria-describedby={error || help ? `${id}-note` : undefined}
        />
      </div>
      <Note id={`${id}-note`} error={error} help={help} />
    </div>
  )
}

function Note({ id, error, help }: { id: string; error?: string | null; help?: ReactNode }) {
  if (!error && !help) return null
  return (
    <p id={id} className={error ? styles.error : styles.help} role={error ? 'alert' : undefined}>
      {error || help}
    </p>
  )
}
