import { DATE_FORMATS, formatDay } from '../../../../src/core/fields/date-text.ts'
import { t } from '../../../i18n.ts'
import editor from '../field-editor.module.css'
import type { OptionsProps } from './options-props.ts'
import { Choice, Tick } from './parts.tsx'

const EXAMPLE_DAY = '2024-11-25'

/** Days: how they are written. */
export function DateOptions({ options, onChange }: OptionsProps) {
  return (
    <Choice
      label={t('Format')}
      value={String(options.format)}
      values={DATE_FORMATS.map((format) => ({
        value: String(format),
        label: formatDay(EXAMPLE_DAY, format),
      }))}
      onChange={(format) => onChange({ ...options, format })}
    />
  )
}

/** Moments: how they are written, and in which time zone. */
export function DateTimeOptions({ options, onChange }: OptionsProps) {
  const zone = String(options.timeZone)
  const zones = [...new Set(['local', 'UTC', zone, ...Intl.supportedValuesOf('timeZone')])]
  const exactness = options.milliseconds ? 'ms' : options.seconds ? 's' : 'min'
  return (
    <div className={editor.part}>
      <DateOptions options={options} onChange={onChange} />
      <Choice
        label={t('Time')}
        value={options.time12h ? '12' : '24'}
        values={[
          { value: '24', label: '14:05' },
          { value: '12', label: '02:05 PM' },
        ]}
        onChange={(hours) => onChange({ ...options, time12h: hours === '12' })}
      />
      <Choice
        label={t('Precision')}
        value={exactness}
        values={[
          { value: 'min', label: t('minutes') },
          { value: 's', label: t('seconds') },
          { value: 'ms', label: t('milliseconds') },
        ]}
        onChange={(to) => onChange({ ...options, seconds: to !== 'min', milliseconds: to === 'ms' })}
      />
      <Choice
        label={t('Time zone')}
        value={zone}
        values={zones.map((value) => ({ value, label: value === 'local' ? t('Viewer’s time zone') : value }))}
        onChange={(timeZone) => onChange({ ...options, timeZone })}
      />
      <Tick
        label={t('Use the same time zone for everyone')}
        checked={zone !== 'local'}
        onChange={(same) => {
          const here = Intl.DateTimeFormat().resolvedOptions().timeZone
          onChange({ ...options, timeZone: same ? here : 'local' })
        }}
      />
    </div>
  )
}
