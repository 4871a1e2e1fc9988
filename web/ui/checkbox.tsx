import type { ReactNode } from 'react'
import styles from './checkbox.module.css'

interface CheckboxProps {
  label: ReactNode
  /** Explanation below the label. */
  help?: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}

/** A labelled checkbox of a form. */
export function Checkbox({ label, help, checked, disabled, onChange }: CheckboxProps) {
  return (
    <label className={styles.checkbox}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {help && <small className={styles.help}>{help}</small>}
      </span>
    </label>
  )
}
