import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './view.module.css'

/** The cell of a computed field that gives nothing any more: why. */
export const BrokenField = ({ error }: { error: string }): ReactNode => (
  <span className={styles.brokenCell} title={error} data-testid="broken-cell">
    <TriangleAlert size={13} aria-hidden />
    <span className={styles.line} dir="auto">
      {error}
    </span>
  </span>
)
