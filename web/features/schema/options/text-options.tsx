import { t } from '../../../i18n.ts'
import type { OptionsProps } from './options-props.ts'
import { Tick } from './parts.tsx'

/** Long text: plain or with formatting. */
export function LongTextOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={t('Format as rich text (Markdown)')}
      checked={options.rich === true}
      onChange={(rich) => onChange({ ...options, rich })}
    />
  )
}

/** E-mail, links, telephone numbers: whether what has not the right shape is refused. */
export function ValidatedOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={t('Accept only valid values')}
      checked={options.validate === true}
      onChange={(validate) => onChange({ ...options, validate })}
    />
  )
}
