import type { ReactNode } from 'react'
import styles from './checkbox.module.css'

interface CheckboxProps {
  label: ReactNode
  /** Explanation below the label. */
  help?: string
  checked: boolean
  onChange: (checked: boolean) => void
}

/** A labelled checkbox of a form. */
export function Checkbox({ label, help, checked, onChange }: CheckboxProps) {
  return (
    <label className={styles.checkbox}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {help && <small className={styles.help}>{help}</small>}
      </span>
    </label>
  )
}
