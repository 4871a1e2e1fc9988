import { CHECKBOX_ICONS } from '../../../../src/core/fields/checkbox.ts'
import { RATING_ICONS } from '../../../../src/core/fields/rating.ts'
import { m } from '../../../messages.gen.ts'
import editor from '../field-editor.module.css'
import { Choice, ColorPicker, type OptionsProps } from './controls.tsx'
import styles from './options.module.css'

const iconLabel = (icon: (typeof CHECKBOX_ICONS)[number]): string =>
  ({
    square: m.schema_square(),
    circle: m.schema_circle(),
    star: m.schema_star(),
    heart: m.schema_heart(),
    thumb: m.schema_thumb(),
    flag: m.schema_flag(),
  })[icon]

const SIGN_COLORS = [
  '#fcb401',
  '#fa8231',
  '#eb3b5a',
  '#ec4899',
  '#8854d0',
  '#3366ff',
  '#2d98da',
  '#36bfa6',
  '#20bf6b',
  '#4b5563',
]

export function RatingOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Choice
        label={m.schema_maximum()}
        value={Number(options.max)}
        values={Array.from({ length: 10 }, (_, at) => ({ value: at + 1, label: String(at + 1) }))}
        onChange={(max) => onChange({ ...options, max })}
      />
      <Choice
        label={m.common_icon()}
        value={String(options.icon)}
        values={RATING_ICONS.map((icon) => ({ value: String(icon), label: iconLabel(icon) }))}
        onChange={(icon) => onChange({ ...options, icon })}
      />
      <SignColor options={options} onChange={onChange} />
    </div>
  )
}

export function CheckOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Choice
        label={m.common_icon()}
        value={String(options.icon)}
        values={CHECKBOX_ICONS.map((icon) => ({ value: String(icon), label: iconLabel(icon) }))}
        onChange={(icon) => onChange({ ...options, icon })}
      />
      <SignColor options={options} onChange={onChange} />
    </div>
  )
}

function SignColor({ options, onChange }: OptionsProps) {
  return (
    <div className={styles.line}>
      <span>{m.common_colour()}</span>
      <ColorPicker
        colors={SIGN_COLORS}
        value={String(options.color)}
        label={m.common_colour()}
        onChange={(color) => onChange({ ...options, color })}
      />
    </div>
  )
}
