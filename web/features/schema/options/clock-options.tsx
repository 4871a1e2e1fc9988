import { DURATION_FORMATS } from '../../../../src/core/fields/duration.ts'
import { m } from '../../../messages.gen.ts'
import type { OptionsProps } from './options-props.ts'
import { Choice } from './parts.tsx'

/** A time of day: by which clock it is shown. */
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

/** A length of time: down to what it is shown. */
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
