import { type BaseTheme, DEFAULT_THEME } from '../../../src/core/theme.ts'
import { m } from '../../messages.gen.ts'
import { BASE_COLORS } from '../layout/base-icon.tsx'
import { themeProperties } from '../layout/theme.ts'
import styles from './base-dialog.module.css'

export interface ThemeChoiceProps {
  theme: BaseTheme
  onChange: (theme: BaseTheme) => void
}

/** The colours of a base's pages, with a sample of how they look. */
export function ThemeChoice({ theme, onChange }: ThemeChoiceProps) {
  return (
    <>
      <ColorChoice
        legend={m.bases_primary_colour()}
        color={theme.primaryColor}
        first={DEFAULT_THEME.primaryColor}
        onChange={(primaryColor) => onChange({ ...theme, primaryColor })}
      />
      <ColorChoice
        legend={m.bases_secondary_colour()}
        color={theme.accentColor}
        first={DEFAULT_THEME.accentColor}
        onChange={(accentColor) => onChange({ ...theme, accentColor })}
      />
      <div className={styles.sample} style={themeProperties(theme)} aria-hidden>
        <span className={styles.sampleButton}>{m.bases_button()}</span>
        <span className={styles.sampleChosen}>{m.bases_selected()}</span>
        <span className={styles.sampleAccent}>{m.bases_secondary_colour()}</span>
      </div>
    </>
  )
}

interface ColorChoiceProps {
  legend: string
  /** `#RRGGBB`. */
  color: string
  /** The default, which leads the row. */
  first: string
  onChange: (color: string) => void
}

function ColorChoice({ legend, color, first, onChange }: ColorChoiceProps) {
  const offered = [...new Set([first, ...BASE_COLORS.map((one) => one.toUpperCase())])]
  const isOwn = !offered.includes(color)
  return (
    <fieldset className={styles.colors}>
      <legend>{legend}</legend>
      {offered.map((one, index) => (
        <label key={one} className={styles.color} style={{ background: one }}>
          <input
            type="radio"
            name={legend}
            className={styles.radio}
            checked={one === color}
            onChange={() => onChange(one)}
            aria-label={one === first ? m.bases_default() : m.common_colour_number({ n: index + 1 })}
          />
        </label>
      ))}
      <label className={styles.color} style={{ background: isOwn ? color : undefined }} data-own={isOwn}>
        <input
          type="color"
          className={styles.radio}
          value={color}
          onChange={(event) => onChange(event.target.value.toUpperCase())}
          aria-label={m.bases_custom_colour()}
        />
      </label>
    </fieldset>
  )
}
