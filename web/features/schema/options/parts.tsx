import { type ReactNode, useId } from 'react'
import toolbar from '../../views/controls/toolbar.module.css'
import editor from '../field-editor.module.css'
import styles from './options.module.css'

/** A labelled list to choose from. */
export function Choice<T extends string | number>(props: {
  label: string
  value: T
  values: readonly { value: T; label: string }[]
  onChange: (value: T) => void
}) {
  const { label, value, values, onChange } = props
  const id = useId()
  return (
    <div className={styles.line}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={`${toolbar.select} ${styles.control}`}
        value={String(value)}
        onChange={(event) => {
          const found = values.find((one) => String(one.value) === event.target.value)
          if (found) onChange(found.value)
        }}
      >
        {values.map((one) => (
          <option key={one.value} value={String(one.value)}>
            {one.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A box to tick. */
export function Tick(props: { label: ReactNode; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className={editor.check}>
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  )
}
