import { type ReactNode, useId } from 'react'
import styles from './sources.module.css'

/** A labelled choice of a few. */
export function SelectField({
  label,
  value,
  onChange,
  help,
  children,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  help?: string
  /** The options. */
  children: ReactNode
}) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {children}
      </select>
      {help && <p className={styles.help}>{help}</p>}
    </div>
  )
}
