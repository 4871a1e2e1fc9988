import type { InputHTMLAttributes, ReactNode } from 'react'
import { useId } from 'react'
import styles from './switch.module.css'

interface SwitchInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'type'> {
  checked: boolean
  onChange: (checked: boolean) => void
}

/** A switch without a visible label; pass `aria-label`, or an `id` for a label. */
export function SwitchInput({ checked, onChange, ...input }: SwitchInputProps) {
  return (
    <input
      {...input}
      type="checkbox"
      role="switch"
      className={styles.switch}
      aria-checked={checked}
      checked={checked}
      onChange={(event) => onChange(event.target.checked)}
    />
  )
}

interface SwitchProps {
  label: string
  /** Explanation below the label. */
  hint?: ReactNode
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}

/** A labelled switch for a setting that takes effect at once. */
export function Switch({ label, hint, checked, disabled, onChange }: SwitchProps) {
  const id = useId()
  return (
    <div className={styles.line}>
      <label htmlFor={id} className={styles.label}>
        {label}
        {hint && (
          <small id={`${id}-hint`} className={styles.hint}>
            {hint}
          </small>
        )}
      </label>
      <SwitchInput
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={onChange}
      />
    </div>
  )
}
