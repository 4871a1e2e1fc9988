import JsBarcode from 'jsbarcode'
import type { ReactNode } from 'react'
import type { BarcodeFormat } from '../../src/core/fields/codes.ts'
import { m } from '../messages.gen.ts'
import styles from './code.module.css'

/** Quiet zone on both sides in modules, which scanners need. */
const QUIET = 10
const HEIGHT = 50

interface BarPictureProps {
  text: string
  format: BarcodeFormat
  /** Shows the text under the bars. */
  showsText: boolean
}

/** A barcode as SVG, or a message if the format cannot encode the text. */
export function BarPicture({ text, format, showsText }: BarPictureProps): ReactNode {
  const bars = barsOf(text, format)
  if (bars === null)
    return <span className={styles.error}>{m.cells_text_not_valid_format({ text, format })}</span>
  const width = bars.data.length + 2 * QUIET
  // Long codes keep their proportions: bars a fifth as high as the code is wide, and a readable caption.
  const barHeight = showsText ? Math.max(HEIGHT, Math.round(width / 5)) : HEIGHT
  const fontSize = Math.min(Math.max(11, Math.round(width / 32)), width / (bars.text.length * 0.62))
  const height = barHeight + (showsText ? fontSize + 4 : 0)
  return (
    <svg
      className={styles.bars}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio={showsText ? undefined : 'none'}
      role="img"
      aria-label={m.cells_format_of_text({ format, text })}
      shapeRendering="crispEdges"
      direction="ltr"
    >
      <rect width={width} height={height} fill="#fff" />
      <path d={pathOf(bars.data, barHeight)} fill="#000" />
      {showsText && (
        <text
          x={width / 2}
          y={height - 3}
          textAnchor="middle"
          fontSize={fontSize}
          fontFamily="ui-monospace, monospace"
        >
          {bars.text}
        </text>
      )}
    </svg>
  )
}

interface Encoding {
  data: string
  text: string
}

/** The bars as 1 and 0, and the text including a check digit; null if the text is invalid. */
function barsOf(text: string, format: BarcodeFormat): Encoding | null {
  // For an object instead of an element, the library writes the encoding into it.
  const target: { encodings?: Encoding[] } = {}
  let isValid = true
  try {
    JsBarcode(target, text, { format, flat: true, valid: (valid) => (isValid = valid) })
  } catch (error) {
    // Some encoders throw this for text they cannot encode.
    if (error instanceof Error) return null
    throw error
  }
  const parts = target.encodings ?? []
  const data = parts.map((part) => part.data).join('')
  return isValid && /^[01]+$/.test(data)
    ? { data, text: parts.map((part) => part.text).join('') || text }
    : null
}

function pathOf(data: string, height: number): string {
  return [...data.matchAll(/1+/g)]
    .map(({ index, 0: run }) => `M${index + QUIET} 2h${run.length}v${height - 4}h${-run.length}z`)
    .join('')
}
