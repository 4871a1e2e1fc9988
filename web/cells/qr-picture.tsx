import type { ReactNode } from 'react'
import { encode } from 'uqr'
import { m } from '../messages.gen.ts'
import styles from './code.module.css'

/** Quiet zone in modules, which scanners need (ISO/IEC 18004: 4; 2 suffice on a white cell). */
const QUIET = 2

/** A text as a QR code in SVG. */
export function QrPicture({ text }: { text: string }): ReactNode {
  const modules = modulesOf(text)
  if (modules === null) return <span className={styles.error}>{m.cells_too_long_qr_code()}</span>
  const size = modules.length + 2 * QUIET
  return (
    <svg
      className={styles.qr}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={m.cells_qr_code_of_text({ text: text.slice(0, 100) })}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(modules)} fill="#000" />
    </svg>
  )
}

/** Null for texts beyond the largest code: 2331 bytes at this error correction level. */
function modulesOf(text: string): boolean[][] | null {
  try {
    return encode(text, { ecc: 'M', border: 0 }).data
  } catch (error) {
    if (error instanceof Error && /too long|range/i.test(error.message)) return null
    throw error
  }
}

/** A single path for all dark modules, with one segment per run. */
function pathOf(modules: readonly boolean[][]): string {
  return modules
    .flatMap((row, y) => {
      const runs: string[] = []
      for (let x = 0; x < row.length; x++) {
        const from = x
        while (row[x]) x++
        if (x > from) runs.push(`M${from + QUIET} ${y + QUIET}h${x - from}v1h${from - x}z`)
      }
      return runs
    })
    .join('')
}
