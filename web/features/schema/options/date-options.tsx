import { DATE_FORMATS, formatDay } from '../../../../src/core/fields/date-text.ts'
import { DURATION_FORMATS } from '../../../../src/core/fields/duration.ts'
import { m } from '../../../messages.gen.ts'
import editor from '../field-editor.module.css'
import { Choice, type OptionsProps, Tick } from './controls.tsx'

const EXAMPLE_DAY = '2024-11-25'

export function DateOptions({ options, onChange }: OptionsProps) {
  return (
    <Choice
      label={m.common_format()}
      value={String(options.format)}
      values={DATE_FORMATS.map((format) => ({
        value: String(format),
        label: formatDay(EXAMPLE_DAY, format),
      }))}
      onChange={(format) => onChange({ ...options, format })}
    />
  )
}

export function DateTimeOptions({ options, onChange }: OptionsProps) {
  const zone = String(options.timeZone)
  const zones = [...new Set(['local', 'UTC', zone, ...Intl.supportedValuesOf('timeZone')])]
  const exactness = options.milliseconds ? 'ms' : options.seconds ? 's' : 'min'
  return (
    <div className={editor.part}>
      <DateOptions options={options} onChange={onChange} />
      <Choice
        label={m.schema_time()}
        value={options.time12h ? '12' : '24'}
        values={[
          { value: '24', label: '14:05' },
          { value: '12', label: '02:05 PM' },
        ]}
        onChange={(hours) => onChange({ ...options, time12h: hours === '12' })}
      />
      <Choice
        label={m.schema_precision()}
        value={exactness}
        values={[
          { value: 'min', label: m.schema_minutes() },
          { value: 's', label: m.schema_seconds() },
          { value: 'ms', label: m.schema_milliseconds() },
        ]}
        onChange={(to) => onChange({ ...options, seconds: to !== 'min', milliseconds: to === 'ms' })}
      />
      <Choice
        label={m.schema_time_zone()}
        value={zone}
        values={zones.map((value) => ({
          value,
          label: value === 'local' ? m.schema_viewers_time_zone() : value,
        }))}
        onChange={(timeZone) => onChange({ ...options, timeZone })}
      />
      <Tick
        label={m.schema_use_same_time_zone_everyone()}
        checked={zone !== 'local'}
        onChange={(same) => {
          const here = Intl.DateTimeFormat().resolvedOptions().timeZone
          onChange({ ...options, timeZone: same ? here : 'local' })
        }}
      />
    </div>
  )
}

export function TimeOptions({ options, onChange }: OptionsProps) {
  return (
    <Choice
      label={m.schema_time()}
      value={options.time12h === true ? '12' : '24'}
      values={[
        { value: '24', label: '14:05' },
        { value: '12', label: '2:05 PM' },
      ]}
      onChange={(hours) => onChange({ ...options, time12h: hours === '12' })}
    />
  )
}

export function DurationOptions({ options, onChange }: OptionsProps) {
  return (
    <Choice
      label={m.common_format()}
      value={String(options.format)}
      values={DURATION_FORMATS.map((format, at) => ({
        value: String(format),
        label: `${format} (${EXAMPLES[at] ?? ''})`,
      }))}
      onChange={(format) => onChange({ ...options, format })}
    />
  )
}

const EXAMPLES = ['1:30', '1:30:15', '1:30:15.2', '1:30:15.25', '1:30:15.250']
