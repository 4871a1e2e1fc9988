import { CHECKBOX_ICONS } from '../../../../src/core/fields/checkbox.ts'
import { RATING_ICONS } from '../../../../src/core/fields/rating.ts'
import { t } from '../../../i18n.ts'
import editor from '../field-editor.module.css'
import { ColorPicker } from './color-picker.tsx'
import styles from './options.module.css'
import type { OptionsProps } from './options-props.ts'
import { Choice } from './parts.tsx'

const iconLabel = (icon: (typeof CHECKBOX_ICONS)[number]): string =>
  ({
    square: t('Square'),
    circle: t('Circle'),
    star: t('Star'),
    heart: t('Heart'),
    thumb: t('Thumb'),
    flag: t('Flag'),
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

/** A rating: how many of which sign. */
export function RatingOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Choice
        label={t('Maximum')}
        value={Number(options.max)}
        values={Array.from({ length: 10 }, (_, at) => ({ value: at + 1, label: String(at + 1) }))}
        onChange={(max) => onChange({ ...options, max })}
      />
      <Choice
        label={t('Icon')}
        value={String(options.icon)}
        values={RATING_ICONS.map((icon) => ({ value: String(icon), label: iconLabel(icon) }))}
        onChange={(icon) => onChange({ ...options, icon })}
      />
      <SignColor options={options} onChange={onChange} />
    </div>
  )
}

/** A check box: its sign and colour. */
export function CheckOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Choice
        label={t('Icon')}
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
      <span>{t('Colour')}</span>
      <ColorPicker
        colors={SIGN_COLORS}
        value={String(options.color)}
        label={t('Colour')}
        onChange={(color) => onChange({ ...options, color })}
      />
    </div>
  )
}
