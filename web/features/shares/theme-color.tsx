import { useId } from 'react'
import { m } from '../../messages.gen.ts'
import { BASE_COLORS } from '../layout/base-icon.tsx'
import styles from './share-dialog.module.css'

export interface ThemeColorProps {
  /** `#RRGGBB`; null: that of the base. */
  color: string | null
  onChange: (color: string | null) => void
}

/** The colour of a public page's buttons and links: one on which white can be read. */
export function ThemeColor({ color, onChange }: ThemeColorProps) {
  const name = useId()
  const colors: readonly string[] = BASE_COLORS
  const all = color === null || colors.includes(color) ? colors : [...colors, color]
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.legend}>{m.shares_theme_colour()}</legend>
      <div className={styles.swatches}>
        <label className={styles.noColor}>
          <input type="radio" name={name} checked={color === null} onChange={() => onChange(null)} />
          {m.shares_default()}
        </label>
        {all.map((one, index) => (
          <label key={one} className={styles.swatch} style={{ background: one }}>
            <input
              type="radio"
              name={name}
              aria-label={m.common_colour_number({ n: index + 1 })}
              checked={one === color}
              onChange={() => onChange(one)}
            />
          </label>
        ))}
      </div>
    </fieldset>
  )
}
