import { Check } from 'lucide-react'
import { useState } from 'react'
import { m } from '../../../messages.gen.ts'
import { Popover } from '../../../ui/overlays.ts'
import styles from './options.module.css'

export interface ColorPickerProps {
  colors: readonly string[]
  value: string
  label: string
  onChange: (color: string) => void
}

/** A swatch that opens the colours to choose from. */
export function ColorPicker({ colors, value, label, onChange }: ColorPickerProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  return (
    <>
      <button
        type="button"
        className={styles.swatch}
        style={{ background: value }}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={anchor !== null}
        onClick={(event) => setAnchor(anchor ? null : event.currentTarget)}
      />
      {anchor && (
        <Popover anchor={anchor} onClose={() => setAnchor(null)} label={label} className={styles.swatches}>
          {colors.map((color, index) => (
            <button
              key={color}
              type="button"
              className={styles.swatch}
              style={{ background: color }}
              aria-label={m.common_colour_number({ n: index + 1 })}
              aria-pressed={color === value}
              onClick={() => {
                onChange(color)
                setAnchor(null)
              }}
            >
              {color === value && <Check size={13} aria-hidden />}
            </button>
          ))}
        </Popover>
      )}
    </>
  )
}
