import type { ReactNode } from 'react'
import { m } from '../../messages.gen.ts'
import { SelectField } from './select-field.tsx'
import styles from './sources.module.css'

/** Settings of a new source besides its connection. */
export interface NewSourceSettings {
  inflection: 'none' | 'camelize'
  isSchemaReadonly: boolean
  isDataReadonly: boolean
}

interface Props {
  settings: NewSourceSettings
  onChange: (settings: NewSourceSettings) => void
}

/** How table and column names become titles. */
export function NamingFields({ settings, onChange }: Props) {
  return (
    <SelectField
      label={m.sources_field_and_table_names()}
      value={settings.inflection}
      onChange={(value) => onChange({ ...settings, inflection: value === 'camelize' ? 'camelize' : 'none' })}
    >
      <option value="none">{m.sources_names_as_in_database()}</option>
      <option value="camelize">{m.sources_names_in_title_case()}</option>
    </SelectField>
  )
}

/** Which changes members may make in the database. */
export function PermissionFields({ settings, onChange }: Props) {
  return (
    <fieldset className={styles.permissions}>
      <legend>{m.sources_allow_members_to()}</legend>
      <Switch
        checked={!settings.isDataReadonly}
        onChange={(may) => onChange({ ...settings, isDataReadonly: !may })}
      >
        {m.sources_edit_records()}
      </Switch>
      <Switch
        checked={!settings.isSchemaReadonly}
        onChange={(may) => onChange({ ...settings, isSchemaReadonly: !may })}
      >
        {m.sources_add_fields_hide_fields_tables()}
      </Switch>
    </fieldset>
  )
}

export function Switch(props: {
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  /** Accessible name of a switch without visible text. */
  label?: string
  children?: ReactNode
}) {
  const { checked, onChange, disabled, label, children } = props
  return (
    <label className={styles.switch} data-tip={children ? undefined : label}>
      <input
        type="checkbox"
        role="switch"
        aria-checked={checked}
        aria-label={label}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={styles.track} aria-hidden />
      {children}
    </label>
  )
}
