import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import type { CellVariant } from './cell.ts'
import styles from './view.module.css'

/** Maximum characters drawn per line in a grid: laying out long texts is slow, and only the beginning is visible. */
const DRAWN_PER_LINE = 400

interface TextViewProps {
  value: CellValue
  variant: CellVariant
  /** Lines that fit. */
  lines: number
}

/** Text in its writing direction, truncated with an ellipsis. */
export function TextView({ value, variant, lines }: TextViewProps): ReactNode {
  if (value === null || value === '') return null
  const text = String(value)
  if (variant === 'record') {
    return (
      <span className={styles.recordText} dir="auto">
        {text}
      </span>
    )
  }
  const most = DRAWN_PER_LINE * lines
  const shown = text.length > most ? text.slice(0, most) : text
  return lines === 1 ? (
    <span className={styles.line} dir="auto">
      {shown}
    </span>
  ) : (
    <span className={styles.lines} dir="auto" style={{ WebkitLineClamp: lines }}>
      {shown}
    </span>
  )
}

const RichText = lazyPart(() => import('../rich-text/rich-text.tsx'), 'RichText')

/** Rendered Markdown. A grid shows the lines that fit, in its text size; a record shows all. */
export function RichTextView({ value, variant, lines }: TextViewProps): ReactNode {
  if (value === null || value === '') return null
  const text = String(value)
  if (variant === 'record') return <RichText text={text} />
  return (
    <span
      className={`${styles.lines} ${styles.formatted}`}
      style={{ WebkitLineClamp: lines }}
      data-one-line={lines === 1 || undefined}
    >
      <RichText text={text.slice(0, DRAWN_PER_LINE * lines)} inCell />
    </span>
  )
}

/** A computed field that can no longer be evaluated, with the reason. */
export const BrokenField = ({ error }: { error: string }): ReactNode => (
  <span className={styles.brokenCell} title={error} data-testid="broken-cell">
    <TriangleAlert size={13} aria-hidden />
    <span className={styles.line} dir="auto">
      {error}
    </span>
  </span>
)
