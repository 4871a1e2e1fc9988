import { Check, Circle, CircleCheck, Flag, Heart, type LucideIcon, Star, ThumbsUp } from 'lucide-react'
import { type CHECKBOX_ICONS, checkbox } from '../../src/core/fields/checkbox.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** Icons for on and off; a type with one icon fills it when on. */
const SIGNS: Record<
  Exclude<(typeof CHECKBOX_ICONS)[number], 'square'>,
  { on: LucideIcon; off: LucideIcon; fill: boolean }
> = {
  circle: { on: CircleCheck, off: Circle, fill: false },
  star: { on: Star, off: Star, fill: true },
  heart: { on: Heart, off: Heart, fill: true },
  thumb: { on: ThumbsUp, off: ThumbsUp, fill: true },
  flag: { on: Flag, off: Flag, fill: true },
}

/** A check box toggled by click, Space and Enter. Off is faint but visible. */
export const checkboxCell = defineCell(checkbox, {
  Icon: Check,
  isShape: true,
  align: 'center',
  minWidth: 50,
  View({ value, options, commit, field }) {
    const isOn = value === true
    return (
      // biome-ignore lint/a11y/useSemanticElements: a native check box cannot be a heart
      <button
        type="button"
        role="checkbox"
        aria-checked={isOn}
        aria-label={field.title}
        tabIndex={-1}
        disabled={!commit}
        className={styles.tick}
        data-on={isOn || undefined}
        title={isOn ? m.common_checked() : m.common_not_checked()}
        onClick={() => commit?.(!isOn)}
      >
        <Sign icon={options.icon} color={options.color} isOn={isOn} />
      </button>
    )
  },
  onKey({ key, ctrl, alt }, { value, commit }) {
    if ((key !== ' ' && key !== 'Enter') || ctrl || alt) return false
    commit(value !== true)
    return true
  },
})

/** The default box is one element styled by CSS, so toggling never replaces it. */
function Sign({
  icon,
  color,
  isOn,
}: {
  icon: (typeof CHECKBOX_ICONS)[number]
  color: string
  isOn: boolean
}) {
  if (icon === 'square')
    return <span className={styles.box} style={{ background: isOn ? color : undefined }} />
  const { on, off, fill } = SIGNS[icon]
  const Icon = isOn ? on : off
  return <Icon size={16} aria-hidden color={isOn ? color : undefined} fill={isOn && fill ? color : 'none'} />
}
