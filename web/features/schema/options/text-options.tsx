import { m } from '../../../messages.gen.ts'
import type { OptionsProps } from './controls.tsx'
import { Tick } from './controls.tsx'

/** Long text: plain or with formatting. */
export function LongTextOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={m.schema_format_as_rich_text_markdown()}
      checked={options.rich === true}
      onChange={(rich) => onChange({ ...options, rich })}
    />
  )
}

/** E-mail, links, telephone numbers: whether what has not the right shape is refused. */
export function ValidatedOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={m.schema_accept_only_valid_values()}
      checked={options.validate === true}
      onChange={(validate) => onChange({ ...options, validate })}
    />
  )
}
