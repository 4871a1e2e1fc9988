import type { ReactNode } from 'react'
import { t } from '../../i18n.ts'
import { SelectField } from './select-field.tsx'
import styles from './sources.module.css'

/** What is decided when a source is made, beside its connection. */
export interface NewSourceSettings {
  inflection: 'none' | 'camelize'
  isSchemaReadonly: boolean
  isDataReadonly: boolean
}

interface Props {
  settings: NewSourceSettings
  onChange: (settings: NewSourceSettings) => void
}

/** How the names of the database are shown. */
export function NamingFields({ settings, onChange }: Props) {
  return (
    <SelectField
      label={t('Field and table names')}
      value={settings.inflection}
      onChange={(value) => onChange({ ...settings, inflection: value === 'camelize' ? 'camelize' : 'none' })}
    >
      <option value="none">{t('As in the database: first_name')}</option>
      <option value="camelize">{t('Title case: FirstName')}</option>
    </SelectField>
  )
}

/** What may be changed in the database from here. */
export function PermissionFields({ settings, onChange }: Props) {
  return (
    <fieldset className={styles.permissions}>
      <legend>{t('Allow members to')}</legend>
      <Switch
        checked={!settings.isDataReadonly}
        onChange={(may) => onChange({ ...settings, isDataReadonly: !may })}
      >
        {t('Edit records')}
      </Switch>
      <Switch
        checked={!settings.isSchemaReadonly}
        onChange={(may) => onChange({ ...settings, isSchemaReadonly: !may })}
      >
        {t('Add fields, and hide fields and tables')}
      </Switch>
    </fieldset>
  )
}

/** A setting that is on or off. */
export function Switch(props: {
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  /** Its name where there are no words beside it. */
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
