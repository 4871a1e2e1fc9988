import { m } from '../../../messages.gen.ts'
import type { OptionsProps } from './controls.tsx'
import { Tick } from './controls.tsx'

export function LongTextOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={m.schema_format_as_rich_text_markdown()}
      checked={options.rich === true}
      onChange={(rich) => onChange({ ...options, rich })}
    />
  )
}

export function ValidatedOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={m.schema_accept_only_valid_values()}
      checked={options.validate === true}
      onChange={(validate) => onChange({ ...options, validate })}
    />
  )
}
